/**
 * Middleware that a request passes before its handler: token form, media type, size and the declared shape.
 * Each throws its refusal as a Rejection; the pipeline decides to whom it tells what.
 */
import { zValidator } from '@hono/zod-validator'
import type { MiddlewareHandler } from 'hono'
import { fail, Rejection } from '../contract/errors.ts'
import { isStorable } from '../contract/keepable.ts'
import type { Operation } from '../contract/operation.ts'
import type { World } from '../world.ts'
import { credentialFrom } from './caller.ts'
import { inputProblems, parseInput } from './input-words.ts'
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
  const options = { validationFunction: parseInput }
  return zValidator(
    target,
    contract.request,
    (result) => {
      if (!result.success) {
        const { problems, message } = inputProblems(result.error.issues)
        throw new Rejection(fail('invalid_request', { details: { problems }, message }))
      }
      if (!isStorable(result.data)) throw new Rejection(fail('invalid_request', notStorable))
    },
    options,
  )
}

const notStorable = {
  message: 'Text has no NUL and no unpaired surrogates, and JSON at most 32 levels.',
}
