/**
 * Confirmations as URL-mode elicitation (MCP 2026-07-28, client/elicitation): a client that can open
 * addresses is asked to open the page on which the owner decides. An opened page proves nothing. Only the
 * operation's answer tells whether the owner approved, and only that answer is acted upon.
 */
import type { InputRequiredResult, ServerContext } from '@modelcontextprotocol/server'
import { inputRequired } from '@modelcontextprotocol/server'
import * as z from 'zod'
import { sha256Hex } from '../digest.ts'
import type { OperationAnswer } from './call.ts'
import type { OperationTool } from './tools.ts'

/** Arguments of one tool call. */
export type Arguments = Record<string, unknown>

/** The call that waits for its owner. It travels through the client, signed. */
export type PendingCall = { tool: string; argumentsDigest: string; id: string }

/** Calls the operation of the tool; `again` if this was done before for the same call of the client. */
export type ToolCaller = (args: Arguments, again?: 'again') => Promise<OperationAnswer>

/** Answer of an operation while its owner has not decided. */
const undecidedAnswer = z.object({
  requires_user_confirm: z.literal(true),
  summary: z.string(),
  confirmation: z.object({ url: z.url(), status: z.string() }),
})

const pendingCall = z.object({ tool: z.string(), argumentsDigest: z.string(), id: z.uuid() })
const acceptedElicitation = z.object({ confirm: z.object({ action: z.literal('accept') }) })
const clientCapabilities = 'io.modelcontextprotocol/clientCapabilities'
const opensAddresses = z.object({
  [clientCapabilities]: z.object({ elicitation: z.object({ url: z.object({}) }) }),
})

/** Number of checks for the decision, and the pause between them, while the owner reads the page. */
const looksMax = 8
const pauseMilliseconds = 3_000

/**
 * Returns what the client must do before the call can go on. Returns undefined if the answer should be
 * given as it is; it contains the address as well.
 */
export async function elicitationFor(
  { contract, continuing }: OperationTool,
  args: Arguments,
  answer: OperationAnswer,
  context: ServerContext,
  mint: (state: PendingCall) => Promise<string>,
): Promise<InputRequiredResult | undefined> {
  const asked = undecidedAnswer.safeParse(answer.body)
  const id = z.uuid().safeParse(continuing && answer.body[continuing])
  const canOpen = opensAddresses.safeParse(context.mcpReq.envelope).success
  if (!asked.success || !id.success || !canOpen) return undefined
  const { summary, confirmation } = asked.data
  const argumentsDigest = await digestOfArguments(args)
  return inputRequired({
    inputRequests: {
      confirm: inputRequired.elicitUrl({ url: confirmation.url, message: summary }),
    },
    requestState: await mint({ tool: contract.id, argumentsDigest, id: id.data }),
  })
}

/**
 * Continues a call whose page the client was asked to open. Waits briefly for the decision and returns the
 * operation's answer: paid, refused, or still waiting, with the address again.
 */
export async function continueCall(
  { contract, continuing }: OperationTool,
  args: Arguments,
  context: ServerContext,
  ask: ToolCaller,
  pause: (milliseconds: number) => Promise<void>,
): Promise<OperationAnswer> {
  const state = pendingCall.safeParse(context.mcpReq.requestState())
  const isSame =
    state.data?.tool === contract.id &&
    state.data.argumentsDigest === (await digestOfArguments(args))
  if (!isSame || !continuing) {
    const message = 'requestState belongs to another call. Call the tool anew.'
    return { status: 400, body: { error: 'invalid_request', message } }
  }
  const same = { ...args, [continuing]: state.data?.id }
  const isOpened = acceptedElicitation.safeParse(context.mcpReq.inputResponses).success
  let answer = await ask(same, 'again')
  for (let look = 1; isOpened; look += 1) {
    const asked = undecidedAnswer.safeParse(answer.body)
    if (!asked.success) return answer
    // The approval is the owner's own act; by repeating its call the client shows that it still wants it.
    if (asked.data.confirmation.status === 'approved') {
      return ask({ ...same, user_confirmed: true }, 'again')
    }
    if (look === looksMax || context.mcpReq.signal.aborted) return answer
    await pause(pauseMilliseconds)
    answer = await ask(same, 'again')
  }
  return answer
}

function digestOfArguments(args: Arguments): Promise<string> {
  return sha256Hex(JSON.stringify(Object.entries(args).toSorted(([a], [b]) => (a < b ? -1 : 1))))
}
