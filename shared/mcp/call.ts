/**
 * Calls an operation as its own function is called from outside, for the caller of this request: the
 * operation decides about everything, as if it had been asked directly. The caller's token stays here.
 */
import * as z from 'zod'
import { handedOn } from '../auth/handed.ts'
import type { Operation } from '../contract/operation.ts'
import type { World } from '../world.ts'

/** Sends a request to the function of an operation. */
export type CallPort = (folder: string, request: Request) => Promise<Response>

/** What of the world a call goes by: where the operations are. */
export type CallingWorld = { config: Pick<World['config'], 'BASE_URL' | 'CLIENT_ADDRESS_HEADER'> }

/** What an operation answered: its body, or its refusal as {error, message}. */
export type OperationAnswer = { status: number; body: Record<string, unknown> }

/** Of the request to the tool, what the operation would have been told by the client itself. */
const forwarded = ['user-agent', 'x-device-id', 'idempotency-key']

const jsonObject = z.record(z.string(), z.unknown())
const binding = z.custom<Pick<World, 'fetch'>>(
  (value) => typeof value === 'object' && value !== null && 'fetch' in value,
)

/** The name under which the function of a folder is bound. */
function bindingOf(folder: string): string {
  return folder.toUpperCase().replaceAll('-', '_')
}

/** Over the service binding of the folder; where a platform has none, over the network. */
export function callOver(bindings: Record<string, unknown>, world: World): CallPort {
  return (folder, request) => {
    const bound = binding.safeParse(bindings[bindingOf(folder)])
    return bound.success ? bound.data.fetch(request) : world.fetch(request)
  }
}

/** The same port for one caller, whose token stays where it was read. */
export function callFor(world: World, credential: string, call: CallPort): CallPort {
  return async (folder, request) => {
    request.headers.set('authorization', await handedOn(world, request, credential))
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
  const response = await call(contract.folder, requestOf(contract, url, args, headers))
  return { status: response.status, body: jsonObject.parse(await response.json()) }
}

function requestOf(
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
