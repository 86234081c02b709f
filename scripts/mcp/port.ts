/**
 * Calls operations over the network as the typed client does: with a time limit, and with repetitions where
 * they are safe. If there is no answer, it returns a refusal that an agent can read.
 */
import * as z from 'zod'
import type { CallPort } from '../../shared/mcp/call.ts'
import { AccountError } from '../client/account-error.ts'
import { callOperation, type Input } from '../client/call.ts'
import { operations } from '../client/operations.ts'
import type { ClientOptions } from '../client/options.ts'

/** Returns a port that calls the operations of this service. */
export function callOverNetwork(client: ClientOptions): CallPort {
  return async (folder, request) => {
    const call = Object.values(operations).find(
      (one) => one.folder === folder && one.method === request.method,
    )
    if (!call) throw new Error(`no operation is at ${request.method} ${folder}`)
    const input = await inputOf(request)
    const idempotencyKey = request.headers.get('idempotency-key')
    const options = idempotencyKey === null ? {} : { idempotencyKey }
    try {
      return Response.json(await callOperation(call, input, client, options))
    } catch (error) {
      if (error instanceof AccountError) return refusalResponse(error)
      throw error
    }
  }
}

const jsonObject = z.record(z.string(), z.unknown())

async function inputOf(request: Request): Promise<Input> {
  if (request.method === 'GET') return Object.fromEntries(new URL(request.url).searchParams)
  return jsonObject.parse(await request.json())
}

/** Returns the refusal as it came, or in the same form the reason why none came. */
function refusalResponse(error: AccountError): Response {
  const isUnknown = error.code === 'network_error' || error.code === 'timeout'
  const body = {
    error: error.code,
    message: error.message,
    request_id: error.requestId,
    hint: isUnknown ? lookFirst : error.hint,
    retry_after_seconds: error.retryAfterSeconds,
    details: error.details,
  }
  return Response.json(body, { status: error.status < 400 ? 502 : error.status })
}

const lookFirst =
  'Before you repeat a call that pays, sends or stores something, look with wallet_activity_list ' +
  'whether it was done.'
