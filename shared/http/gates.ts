/**
 * Middleware that a request passes before its handler: token form, media type, size and the declared shape.
 * Each throws its refusal as a Rejection; the pipeline decides to whom it tells what.
 */
import { zValidator } from '@hono/zod-validator'
import type { MiddlewareHandler } from 'hono'
import type * as z from 'zod'
import type { Refusal } from '../contract/errors.ts'
import { fail, Rejection } from '../contract/errors.ts'
import { isStorable } from '../contract/keepable.ts'
import type { Operation } from '../contract/operation.ts'
import type { World } from '../world.ts'
import { credentialFrom } from './caller.ts'
import { wholeRequest } from './read-at-most.ts'

/** State that a request carries through the pipeline. */
export type PipelineEnv = {
  Bindings: Record<string, unknown>
  Variables: { requestId: string; world: World; credential: string }
}
/** Maximum bytes of a request body; the body of a paid request travels inside it. */
const bodyBytesMax = 128 * 1024

/** Returns the first middleware of an operation; `inputValidator` follows. */
export function requestChecks(contract: Operation): MiddlewareHandler<PipelineEnv>[] {
  const token: MiddlewareHandler<PipelineEnv> = async (c, next) => {
    if (contract.access !== 'public') {
      const found = await credentialFrom(c.get('world'), c.req.raw)
      if (found === undefined) throw new Rejection(fail('unauthorized'))
      c.set('credential', found)
    }
    await next()
  }
  const mediaType: MiddlewareHandler<PipelineEnv> = async (c, next) => {
    if (contract.method === 'POST' && hasBody(c.req.raw) && !isJson(c.req.raw)) {
      throw new Rejection(fail('unsupported_media_type'))
    }
    await next()
  }
  return [token, mediaType, wholeBody, emptyBody]
}

/** Reads the whole body; only POST has one. */
const wholeBody: MiddlewareHandler<PipelineEnv> = async (c, next) => {
  if (c.req.method === 'POST') c.req.raw = await wholeRequest(c.req.raw, bodyBytesMax)
  await next()
}

/**
 * Treats an empty body as an empty object (as in wallet_balances). The validator does so only if no content
 * type is set.
 */
const emptyBody: MiddlewareHandler<PipelineEnv> = async (c, next) => {
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

/** Parses the declared shape; the handler's input comes from `c.req.valid`. */
export function inputValidator(contract: Operation) {
  const target = contract.method === 'GET' ? 'query' : 'json'
  return zValidator(target, contract.request, (result) => {
    if (!result.success) throw new Rejection(invalidRequest(result.error.issues))
    if (!isStorable(result.data)) throw new Rejection(fail('invalid_request', notStorable))
  })
}

const notStorable = {
  message: 'Text has no NUL and no unpaired surrogates, and JSON is nested 32 levels deep at most.',
}

/** Maximum characters of each field name and of each sentence about a problem. */
const problemCharactersMax = 500

type Issue = z.core.$ZodIssue

/**
 * Names that may appear in our sentences. Other names may come from whoever wrote what the caller passes
 * on, and would speak in our voice.
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
  // Field names may be the caller's own and as long as a body.
  const problems = issues.slice(0, 8).map((issue) => ({
    field: issue.path.map(plainPart).join('.').slice(0, problemCharactersMax),
    message: sentenceOf(issue),
  }))
  const [first] = problems
  const message = first ? `${first.field || 'request'}: ${first.message}` : undefined
  return fail('invalid_request', { details: { problems }, ...(message ? { message } : {}) })
}
