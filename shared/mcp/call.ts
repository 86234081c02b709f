/**
 * Calls an operation as if from outside, for the caller of this request. The operation decides everything,
 * as in a direct call. The caller's token is not passed on.
 */
import * as z from 'zod'
import { delegationHeader } from '../auth/handed.ts'
import type { Operation } from '../contract/operation.ts'
import type { World } from '../world.ts'

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

/** Returns the name of the service binding for a folder. */
function bindingOf(folder: string): string {
  return folder.toUpperCase().replaceAll('-', '_')
}

/** Makes a port over the service binding of the folder, or over the network if the platform has none. */
export function callOver(bindings: Record<string, unknown>, world: World): CallPort {
  return (folder, request) => {
    const bound = binding.safeParse(bindings[bindingOf(folder)])
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
