/** The operations of an account as tools of the AI SDK, whose own tool approval asks for confirmations. */
import { jsonSchema, type ModelMessage, type ToolSet, tool } from 'ai'
import type { AccountClient } from '../client/operations.ts'
import {
  asksUser,
  callTool,
  chooseTools,
  type ToolInput,
  type ToolOptions,
} from '../client/tools.ts'

export { type ToolOptions, termsToConfirm } from '../client/tools.ts'

/**
 * Returns the tools by name. A call that confirms a payment needs an approval; without one in the messages it is
 * made as a call that confirms nothing.
 */
export function accountTools(account: AccountClient, options: ToolOptions = {}): ToolSet {
  const tools = chooseTools(options).map((described) => {
    const { name, description, inputSchema } = described
    const made = tool({
      description,
      inputSchema: jsonSchema<ToolInput>(inputSchema),
      needsApproval: (input) => asksUser(described, input),
      execute: (input, { toolCallId, messages, abortSignal }) => {
        const isAgreed = isAgreedIn(messages, toolCallId, input)
        return callTool(account, described, input, { isAgreed, signal: abortSignal })
      },
    })
    return [name, made] as const
  })
  return Object.fromEntries(tools)
}

type Part = Exclude<ModelMessage['content'], string>[number]

/**
 * Returns true if a person approved this call with these arguments. What a program approved by itself does not count,
 * and where several calls have this id, each has to be approved.
 */
function isAgreedIn(messages: ModelMessage[], toolCallId: string, input: ToolInput): boolean {
  const parts = messages.flatMap(({ content }): readonly Part[] =>
    typeof content === 'string' ? [] : content,
  )
  const isSame = parts.some(
    (part) =>
      part.type === 'tool-call' &&
      part.toolCallId === toolCallId &&
      JSON.stringify(part.input) === JSON.stringify(input),
  )
  const requests = parts.flatMap((part) =>
    part.type === 'tool-approval-request' && part.toolCallId === toolCallId && !part.isAutomatic
      ? [part.approvalId]
      : [],
  )
  const answers = parts.filter((part) => part.type === 'tool-approval-response')
  const isApproved = (id: string) => {
    const own = answers.filter(({ approvalId }) => approvalId === id)
    return own.length > 0 && own.every(({ approved }) => approved)
  }
  return isSame && requests.length > 0 && requests.every(isApproved)
}
