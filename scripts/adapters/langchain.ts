/** The operations of an account as tools of LangChain; a confirmation is asked for by an interrupt or a callback. */
import { DynamicStructuredTool, type StructuredToolInterface } from '@langchain/core/tools'
import type { AccountClient } from '../client/operations.ts'
import {
  type AccountTool,
  asksUser,
  callTool,
  chooseTools,
  declined,
  paymentIn,
  type ToolInput,
  type ToolOptions,
  termsToConfirm,
} from '../client/tools.ts'

/** Payment that a person has to agree to. */
export type Confirmation = {
  /** Id of the payment. */
  id: string
  /** Terms as the service holds them. */
  summary: string
  tool: AccountTool['name']
  input: ToolInput
}

/** Choice of tools, and who is asked. */
export type LangChainOptions = ToolOptions & {
  /**
   * Asks a person, such as `interrupt` of LangGraph. The answer is `id` if the person agreed to this payment, and
   * anything else if not; so an answer to one question is never taken for that to another.
   */
  confirm: (asked: Confirmation) => unknown
}

/** Returns the tools. A call that confirms a payment is made only after `confirm` answered its id. */
export function accountTools(
  account: AccountClient,
  { confirm, ...choice }: LangChainOptions,
): StructuredToolInterface[] {
  return chooseTools(choice).map((described) => {
    const { name, description, inputSchema } = described
    const run = async (input: ToolInput, config: CallConfig | undefined) => {
      const needsConfirmation = asksUser(described, input)
      // Nothing is changed before the question, because LangGraph runs this again from its beginning.
      if (needsConfirmation) {
        const id = paymentIn(input)
        const summary = await termsToConfirm(account, input)
        if ((await confirm({ id, summary, tool: name, input })) !== id) {
          return JSON.stringify(declined)
        }
      }
      const call = {
        isAgreed: needsConfirmation,
        signal: config?.signal,
        callName: callNameOf(config),
      }
      return JSON.stringify(await callTool(account, described, input, call))
    }
    return new DynamicStructuredTool({
      name,
      description,
      schema: inputSchema,
      func: (input: ToolInput, _, config) => run(input, config),
    })
  })
}

type CallConfig = {
  signal?: AbortSignal
  toolCall?: { id?: string }
  configurable?: Record<string, unknown>
}

/**
 * Names a call by the task of the graph and its id: LangGraph 1.7 runs all calls of a message again, in the same task,
 * once one of them was interrupted. Returns undefined outside of a graph, where nothing runs a call again.
 */
function callNameOf({ toolCall, configurable }: CallConfig = {}): string | undefined {
  const task = configurable?.['checkpoint_ns']
  return typeof task === 'string' && toolCall?.id ? `${task} ${toolCall.id}` : undefined
}
