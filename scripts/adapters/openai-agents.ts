/** The operations of an account as tools of the OpenAI Agents SDK, whose own approval asks for confirmations. */
import { type FunctionTool, type RunContext, tool } from '@openai/agents'
import type { AccountClient } from '../client/operations.ts'
import { asksUser, callTool, chooseTools, readObject, type ToolOptions } from '../client/tools.ts'

export { type ToolOptions, termsToConfirm } from '../client/tools.ts'

/**
 * Returns the tools. A call that confirms a payment needs an approval of its own; without one it is made as a call
 * that confirms nothing.
 */
export function accountTools(account: AccountClient, options: ToolOptions = {}): FunctionTool[] {
  return chooseTools(options).map((described) => {
    const { name, description, inputSchema } = described
    const { properties, required = [] } = inputSchema
    return tool({
      name,
      description,
      parameters: { type: 'object', properties, required, additionalProperties: true },
      // Strict schemas of this SDK have no optional fields.
      strict: false,
      needsApproval: async (_context, input) => asksUser(described, readObject(input)),
      execute: (input, context, details) => {
        const isAgreed = isAgreedTo(context, name, details?.toolCall?.callId)
        const call = { isAgreed, signal: details?.signal }
        return callTool(account, described, readObject(input), call)
      },
    })
  })
}

/** Returns true if this call was approved. An approval for all calls of a tool is none of these terms. */
function isAgreedTo(
  context: RunContext | undefined,
  toolName: string,
  callId: string | undefined,
): boolean {
  if (!context || callId === undefined) return false
  const ofAll = { toolName, callId: crypto.randomUUID() }
  return context.isToolApproved({ toolName, callId }) === true && !context.isToolApproved(ofAll)
}
