/**
 * Admission of messages to the tools. Every message needs a token, even one that only lists tools, and a
 * call needs the scope of its operation. Both are refused at the HTTP level (MCP 2026-07-28,
 * basic/authorization), so that a client can ask its user to grant what is missing. An API key cannot be
 * granted more: for it the operation refuses, in a result that the model reads.
 */
import * as z from 'zod'
import { isApiKey } from '../auth/api-key.ts'
import { fail, type Refusal, Rejection } from '../contract/errors.ts'
import type { Access } from '../contract/scopes.ts'
import { bindCredential } from '../db/database.ts'
import { mcpPathOf, refuse, wwwAuthenticateOf } from '../http/answer.ts'
import { credentialFrom } from '../http/caller.ts'
import type { World } from '../world.ts'
import type { OperationTool } from './tools.ts'

type Tools = ReadonlyMap<string, OperationTool>

const toolCall = z.object({
  method: z.literal('tools/call'),
  params: z.object({ name: z.string() }),
})
const identified = z.object({ caller: z.uuid(), scopes_held: z.array(z.string()) })

/** Returns the credential of a request; throws a Rejection if its token has no valid form. */
export async function credentialOfRequest(world: World, request: Request): Promise<string> {
  const credential = await credentialFrom(world, request)
  if (credential === undefined) throw new Rejection(fail('unauthorized'))
  return credential
}

/**
 * Admits the sender of a message and returns its scopes and the id of its key, session or grant, which
 * outlives the tokens of a grant. The operation counts a call against the rate; other messages are counted here.
 */
export async function admit(
  world: World,
  { credential, headers }: { credential: string; headers: Headers },
  message: unknown,
  tools: Tools,
): Promise<z.output<typeof identified>> {
  const needed = neededFor(message, tools)
  const db = bindCredential(world.db, credential)
  const isKey = isApiKey(headers.get('authorization')?.replace(/^Bearer /i, '') ?? '')
  const asked = { needed: isKey ? 'any' : (needed ?? 'any'), counted: needed === undefined }
  const found = await db.one('identify_caller', asked, identified)
  if (!found) throw new Error('an admitted caller has no id')
  return found
}

/** Returns the scope that a call needs; undefined for a message that calls no operation. */
function neededFor(message: unknown, tools: Tools): Access | undefined {
  const called = toolCall.safeParse(message)
  const found = called.success ? tools.get(called.data.params.name) : undefined
  if (!found) return undefined
  return found.contract.access === 'public' ? 'any' : found.contract.access
}

const lackingScope = z.object({ needed: z.string(), held: z.array(z.string()) })

/**
 * Builds the response of a refusal with its challenge: for a token that can pay, because a client asks its user
 * for what the challenge names and the user may allow less; or for the missing scope beside those that the token
 * has, because a new grant replaces the old one.
 */
export function refuseMessage(
  { config }: World,
  { headers, url }: Request,
  refusal: Refusal,
  requestId: string,
): Response {
  const lacking = lackingScope.safeParse(refusal.details).data
  const challenge = wwwAuthenticateOf(config, refusal, {
    scope: lacking ? [...lacking.held, lacking.needed].join(' ') : 'pay',
    authorization: headers.get('authorization') ?? undefined,
    resource: mcpPathOf(url),
  })
  return refuse(refusal, requestId, challenge)
}
