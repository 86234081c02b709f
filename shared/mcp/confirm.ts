/**
 * Confirmations as URL-mode elicitation (MCP 2026-07-28, client/elicitation): a client that opens
 * addresses is asked to open the page on which the owner decides. That it was opened proves nothing:
 * whether the owner approved is asked of the operation, and nothing else is acted upon.
 */
import type { InputRequiredResult, ServerContext } from '@modelcontextprotocol/server'
import { inputRequired } from '@modelcontextprotocol/server'
import * as z from 'zod'
import { sha256Hex } from '../digest.ts'
import type { OperationAnswer } from './call.ts'
import type { OperationTool } from './tools.ts'

/** The arguments of one call of a tool. */
export type Arguments = Record<string, unknown>

/** Which call waits for its owner. It travels through the client, signed. */
export type Waiting = { tool: string; argumentsDigest: string; id: string }

/** Calls the operation of the tool; `again` where it was called before on the client's behalf. */
export type Ask = (args: Arguments, again?: 'again') => Promise<OperationAnswer>

/** What an operation answers while its owner has not decided. */
const awaiting = z.object({
  requires_user_confirm: z.literal(true),
  summary: z.string(),
  confirmation: z.object({ url: z.url(), status: z.string() }),
})

const waiting = z.object({ tool: z.string(), argumentsDigest: z.string(), id: z.uuid() })
const opened = z.object({ confirm: z.object({ action: z.literal('accept') }) })
const clientCapabilities = 'io.modelcontextprotocol/clientCapabilities'
const opensAddresses = z.object({
  [clientCapabilities]: z.object({ elicitation: z.object({ url: z.object({}) }) }),
})

/** How often and how long a call looks for the decision, while the owner reads the page. */
const looksMax = 8
const pauseMilliseconds = 3_000

/**
 * What the client is asked for before the call can go on; undefined where the answer is to be given
 * as it stands, which has the address in it as well.
 */
export async function askedOfClient(
  { contract, continuing }: OperationTool,
  args: Arguments,
  answer: OperationAnswer,
  context: ServerContext,
  mint: (state: Waiting) => Promise<string>,
): Promise<InputRequiredResult | undefined> {
  const asked = awaiting.safeParse(answer.body)
  const id = z.uuid().safeParse(continuing && answer.body[continuing])
  const canOpen = opensAddresses.safeParse(context.mcpReq.envelope).success
  if (!asked.success || !id.success || !canOpen) return undefined
  const { summary, confirmation } = asked.data
  const argumentsDigest = await digestOf(args)
  return inputRequired({
    inputRequests: {
      confirm: inputRequired.elicitUrl({ url: confirmation.url, message: summary }),
    },
    requestState: await mint({ tool: contract.id, argumentsDigest, id: id.data }),
  })
}

/**
 * Goes on with a call whose page the client was asked to open. Waits a little for the decision, and
 * answers what the operation says: paid, refused, or still waiting, with the address again.
 */
export async function goOn(
  { contract, continuing }: OperationTool,
  args: Arguments,
  context: ServerContext,
  ask: Ask,
  pause: (milliseconds: number) => Promise<void>,
): Promise<OperationAnswer> {
  const state = waiting.safeParse(context.mcpReq.requestState())
  const isSame =
    state.data?.tool === contract.id && state.data.argumentsDigest === (await digestOf(args))
  if (!isSame || !continuing) {
    const message = 'requestState belongs to another call. Call the tool anew.'
    return { status: 400, body: { error: 'invalid_request', message } }
  }
  const same = { ...args, [continuing]: state.data?.id }
  const isOpened = opened.safeParse(context.mcpReq.inputResponses).success
  let answer = await ask(same, 'again')
  for (let look = 1; isOpened; look += 1) {
    const asked = awaiting.safeParse(answer.body)
    if (!asked.success) return answer
    // The approval is the owner's own word; the client repeats its call, so it wants it still.
    if (asked.data.confirmation.status === 'approved') {
      return ask({ ...same, user_confirmed: true }, 'again')
    }
    if (look === looksMax || context.mcpReq.signal.aborted) return answer
    await pause(pauseMilliseconds)
    answer = await ask(same, 'again')
  }
  return answer
}

function digestOf(args: Arguments): Promise<string> {
  return sha256Hex(JSON.stringify(Object.entries(args).toSorted(([a], [b]) => (a < b ? -1 : 1))))
}
