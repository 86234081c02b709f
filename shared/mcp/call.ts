/**
 * Calls an operation as if from outside, for the caller of this request. The operation decides everything,
 * as in a direct call. The caller's token is not passed on.
 */
import {
  type InputRequiredResult,
  inputRequired,
  type ServerContext,
} from '@modelcontextprotocol/server'
import * as z from 'zod'
import { delegationHeader } from '../auth/access-token.ts'
import { type Operation, serviceBinding } from '../contract/operation.ts'
import { sha256Hex } from '../digest.ts'
import type { World } from '../world.ts'
import type { OperationTool } from './tools.ts'

/** Sends a request to the function of an operation. */
export type CallPort = (folder: string, request: Request) => Promise<Response>

/** Part of the world that a call needs: the addresses of the operations. */
export type CallingWorld = { config: Pick<World['config'], 'BASE_URL' | 'CLIENT_ADDRESS_HEADER'> }

/** Answer of an operation: its body, or its refusal as {error, message}. */
export type OperationAnswer = { status: number; body: Record<string, unknown> }

/** Headers of the tool request that a client would send to the operation directly. */
const forwarded = ['user-agent', 'x-device-id', 'idempotency-key']

const jsonObject = z.record(z.string(), z.unknown())
const binding = z.custom<Pick<World, 'fetch'>>(
  (value) => typeof value === 'object' && value !== null && 'fetch' in value,
)

/** Makes a port over the service binding of the folder, or over the network if the platform has none. */
export function callOver(bindings: Record<string, unknown>, world: World): CallPort {
  return (folder, request) => {
    const bound = binding.safeParse(bindings[serviceBinding(folder)])
    return bound.success ? bound.data.fetch(request) : world.fetch(request)
  }
}

/** Makes a port for one caller; it sends a handed-on credential and not the caller's token. */
export function callFor(world: World, credential: string, call: CallPort): CallPort {
  return async (folder, request) => {
    request.headers.set('authorization', await delegationHeader(world, request, credential))
    return call(folder, request)
  }
}

/** Calls one operation with these arguments. */
export async function callOperation(
  { call, world }: { call: CallPort; world: CallingWorld },
  contract: Operation,
  args: Record<string, unknown>,
  asked: Headers,
): Promise<OperationAnswer> {
  const headers = new Headers()
  for (const name of [...forwarded, world.config.CLIENT_ADDRESS_HEADER]) {
    const value = name && asked.get(name)
    if (value) headers.set(name, value)
  }
  const url = new URL(`${world.config.BASE_URL}/${contract.folder}`)
  const response = await call(contract.folder, operationRequest(contract, url, args, headers))
  return { status: response.status, body: jsonObject.parse(await response.json()) }
}

function operationRequest(
  { method }: Operation,
  url: URL,
  args: Record<string, unknown>,
  headers: Headers,
): Request {
  if (method === 'POST') {
    headers.set('content-type', 'application/json')
    return new Request(url, { method, headers, body: JSON.stringify(args) })
  }
  for (const [name, value] of Object.entries(args)) {
    url.searchParams.set(name, typeof value === 'string' ? value : JSON.stringify(value))
  }
  return new Request(url, { method, headers })
}

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
