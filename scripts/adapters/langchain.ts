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
    const run = async (input: ToolInput, signal: AbortSignal | undefined) => {
      const needsConfirmation = asksUser(described, input)
      // Nothing is changed before the question, because LangGraph runs this again from its beginning.
      if (needsConfirmation) {
        const id = paymentIn(input)
        const summary = await termsToConfirm(account, input)
        if ((await confirm({ id, summary, tool: name, input })) !== id) {
          return JSON.stringify(declined)
        }
      }
      return JSON.stringify(
        await callTool(account, described, input, { isAgreed: needsConfirmation, signal }),
      )
    }
    return new DynamicStructuredTool({
      name,
      description,
      schema: inputSchema,
      func: (input: ToolInput, _, config) => run(input, config?.signal),
    })
  })
}
