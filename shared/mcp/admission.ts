/**
 * Who may send a message to the tools. Every message comes with a token, also one that only lists,
 * and a call needs the scope of its operation. Both are refused as HTTP (MCP 2026-07-28,
 * basic/authorization), so that a client can have its user grant what is missing.
 */
import * as z from 'zod'
import type { Refusal } from '../contract/errors.ts'
import { fail, Rejection } from '../contract/errors.ts'
import type { Access } from '../contract/scopes.ts'
import { bindCredential } from '../db/database.ts'
import { refuse } from '../http/answer.ts'
import { credentialFrom } from '../http/caller.ts'
import { challengeOf } from '../http/challenge.ts'
import type { World } from '../world.ts'
import type { OperationTool } from './tools.ts'

type Tools = ReadonlyMap<string, OperationTool>

const toolCall = z.object({
  method: z.literal('tools/call'),
  params: z.object({ name: z.string() }),
})
const identified = z.object({ caller: z.uuid() })

/** The credential of a request that carries something like a token. */
export async function credentialOfRequest(world: World, request: Request): Promise<string> {
  const credential = await credentialFrom(world, request)
  if (credential === undefined) throw new Rejection(fail('unauthorized'))
  return credential
}

/**
 * The id of the caller's key, session or grant, which stays while tokens of a grant come and go. A
 * call is counted against the caller's rate by its operation, anything else here.
 */
export async function admit(
  world: World,
  credential: string,
  message: unknown,
  tools: Tools,
): Promise<string> {
  const needed = neededFor(message, tools)
  const db = bindCredential(world.db, credential)
  const asked = { needed: needed ?? 'any', counted: needed === undefined }
  const found = await db.one('identify_caller', asked, identified).catch((error: unknown) => {
    throw naming(error, asked.needed)
  })
  if (!found) throw new Error('an admitted caller has no id')
  return found.caller
}

/** The challenge has to name the scope, of which the database tells in words only. */
function naming(error: unknown, needed: Access): unknown {
  const isOfScope = error instanceof Rejection && error.refusal.refusal === 'insufficient_scope'
  return isOfScope ? new Rejection({ ...error.refusal, details: { needed } }) : error
}

/** The scope that a call needs; undefined for a message that calls no operation. */
function neededFor(message: unknown, tools: Tools): Access | undefined {
  const called = toolCall.safeParse(message)
  const found = called.success ? tools.get(called.data.params.name) : undefined
  if (!found) return undefined
  return found.contract.access === 'public' ? 'any' : found.contract.access
}

/** A refusal with the challenge that belongs to it: of a token, or of the scope that is missing. */
export function refuseMessage(
  { config }: World,
  { headers }: Request,
  refusal: Refusal,
  requestId: string,
): Response {
  const lacking = z.object({ needed: z.string() }).safeParse(refusal.details)
  const challenge = challengeOf(config, refusal, {
    scope: lacking.data?.needed ?? 'read',
    authorization: headers.get('authorization') ?? undefined,
    resource: '/mcp',
  })
  return refuse(refusal, requestId, challenge)
}
