/**
 * What a request passes before its handler: token form, media type, size and the described shape. Each
 * throws its refusal as a Rejection; what is told of it, and to whom, the pipeline decides.
 */
import { zValidator } from '@hono/zod-validator'
import type { MiddlewareHandler } from 'hono'
import type * as z from 'zod'
import type { Refusal } from '../contract/errors.ts'
import { fail, Rejection } from '../contract/errors.ts'
import { isKeepable } from '../contract/keepable.ts'
import type { Operation } from '../contract/operation.ts'
import type { World } from '../world.ts'
import { credentialFrom } from './caller.ts'
import { wholeRequest } from './read-at-most.ts'

/** What a request carries through the pipeline. */
export type Frame = {
  Bindings: Record<string, unknown>
  Variables: { requestId: string; world: World; credential: string }
}
/** Bytes of a request body that the pipeline accepts; a paid request's body travels inside it. */
const bodyBytesMax = 128 * 1024

/** What a request to an operation passes first; `inputGate` comes after it. */
export function gatesOf(contract: Operation): MiddlewareHandler<Frame>[] {
  const token: MiddlewareHandler<Frame> = async (c, next) => {
    if (contract.access !== 'public') {
      const found = await credentialFrom(c.get('world'), c.req.raw)
      if (found === undefined) throw new Rejection(fail('unauthorized'))
      c.set('credential', found)
    }
    await next()
  }
  const mediaType: MiddlewareHandler<Frame> = async (c, next) => {
    if (contract.method === 'POST' && hasBody(c.req.raw) && !isJson(c.req.raw)) {
      throw new Rejection(fail('unsupported_media_type'))
    }
    await next()
  }
  return [token, mediaType, wholeBody, emptyBody]
}

/** Of other methods no body is read. */
const wholeBody: MiddlewareHandler<Frame> = async (c, next) => {
  if (c.req.method === 'POST') c.req.raw = await wholeRequest(c.req.raw, bodyBytesMax)
  await next()
}

/**
 * No body stands for an empty object (SPEC section 4.1, wallet_balances). The validator takes it so
 * only where no content type announces one.
 */
const emptyBody: MiddlewareHandler<Frame> = async (c, next) => {
  if (c.req.method === 'POST' && (await c.req.text()).trim() === '') {
    const headers = new Headers(c.req.raw.headers)
    headers.delete('content-type')
    c.req.raw = new Request(c.req.url, { method: 'POST', headers })
  }
  await next()
}

function hasBody(request: Request): boolean {
  return request.body !== null && request.headers.get('content-length') !== '0'
}

function isJson(request: Request): boolean {
  const type = request.headers.get('content-type') ?? ''
  return type.split(';')[0]?.trim().toLowerCase() === 'application/json'
}

/** Reads the described shape; the handler is given it by `c.req.valid`. */
export function inputGate(contract: Operation) {
  const target = contract.method === 'GET' ? 'query' : 'json'
  return zValidator(target, contract.request, (result) => {
    if (!result.success) throw new Rejection(invalidRequest(result.error.issues))
    if (!isKeepable(result.data)) throw new Rejection(fail('invalid_request', notKeepable))
  })
}

const notKeepable = {
  message: 'Text has no NUL and no unpaired surrogates, and JSON is nested 32 levels deep at most.',
}

/** Of each name and each sentence of what is wrong with a request. */
const problemCharactersMax = 500

type Issue = z.core.$ZodIssue

/**
 * A name that may stand in our sentence. Others may have been dictated by whoever wrote what the caller
 * passes on, and would speak in our voice.
 */
const plainName = /^[A-Za-z0-9_.-]{1,64}$/
const plainPart = (part: PropertyKey) => (plainName.test(String(part)) ? String(part) : '?')

function sentenceOf(issue: Issue): string {
  if (issue.code === 'unrecognized_keys' && !issue.keys.every((key) => plainName.test(key))) {
    return 'It has a field that is not known.'
  }
  return issue.message.slice(0, problemCharactersMax)
}

function invalidRequest(issues: readonly Issue[]): Refusal {
  // Names of fields may be the caller's own, as long as a body can be.
  const problems = issues.slice(0, 8).map((issue) => ({
    field: issue.path.map(plainPart).join('.').slice(0, problemCharactersMax),
    message: sentenceOf(issue),
  }))
  const [first] = problems
  const message = first ? `${first.field || 'request'}: ${first.message}` : undefined
  return fail('invalid_request', { details: { problems }, ...(message ? { message } : {}) })
}
