/**
 * Binds a contract and a handler to an edge function: the stages of every request (shared/README.md). Path
 * and method, token form, media type and size, input, handler, declared answer. A caller that is not
 * admitted gets 401 or 403 before it learns anything about its request.
 */
import { zValidator } from '@hono/zod-validator'
import type { Context as HonoContext, MiddlewareHandler } from 'hono'
import { Hono } from 'hono/tiny'
import type * as z from 'zod'
import { fullResponseOf } from '../contract/answered.ts'
import { type ErrorCode, fail, isRefusal, type Refusal, Rejection } from '../contract/errors.ts'
import { type GapId, type GapStatus, gaps } from '../contract/gaps.ts'
import { isStorable } from '../contract/keepable.ts'
import type { Operation } from '../contract/operation.ts'
import type { Config } from '../env.ts'
import { gapsSeen, readHealth } from '../health/read-gaps.ts'
import { type World, worldFrom } from '../world.ts'
import { answer, refuse, wrongPath, wwwAuthenticateOf } from './answer.ts'
import { contextOf, credentialFrom, idempotencyKey } from './caller.ts'
import type { Context, Handler } from './handler.ts'
import { runOnce } from './idempotency.ts'
import { inputProblems, parseInput, wholeRequest } from './input.ts'
import { runToEnd, type Serving, waitUntilOf } from './later.ts'

type Bindings = Record<string, unknown>
type PipelineContext = HonoContext<PipelineEnv>

/** The entry that a platform calls: a Workers module or, through an adapter, Deno.serve. */
export type EdgeFunction = { fetch: Serving }

/** An operation with its handler. */
export type BoundOperation = {
  contract: Operation
  /** Schema that its answers must match. */
  answered: z.ZodType
  run: (input: unknown, context: Context) => Promise<object>
}

/** Makes the deployable function. Only tests replace `worldOf`. */
export function edgeFunction<Contract extends Operation>(
  contract: Contract,
  run: Handler<Contract>,
  worldOf: (bindings: Bindings) => World = worldFrom,
): EdgeFunction {
  return edgeFunctions([bindOperation(contract, run)], worldOf)
}

/** Binds a handler to its contract. */
export function bindOperation<Contract extends Operation>(
  contract: Contract,
  run: Handler<Contract>,
): BoundOperation {
  return { contract, answered: fullResponseOf(contract), run: run as BoundOperation['run'] }
}

/** Makes the function of a path that has one operation for each of its methods. */
export function edgeFunctions(
  operations: readonly [BoundOperation, ...BoundOperation[]],
  worldOf: (bindings: Bindings) => World = worldFrom,
): EdgeFunction {
  const path = `/${operations[0].contract.folder}`
  const allow = operations.map(({ contract }) => contract.method).join(', ')
  const app = new Hono<PipelineEnv>()
  let world: World | undefined
  app.use(async (c, next) => {
    world ??= worldOf(c.env)
    c.set('world', world)
    c.set('requestId', world.newId())
    await next()
  })
  for (const operation of operations) {
    const { contract } = operation
    for (const gate of requestChecks(contract)) app.on(contract.method, [path], gate)
    app.on(contract.method, [path], inputValidator(contract))
    app.on(contract.method, [path], (c) => serve(operation, c))
  }
  app.all(path, (c) =>
    refuse(fail('method_not_allowed', { details: { allow } }), c.get('requestId')),
  )
  app.notFound((c) => refuse(wrongPath(path), c.get('requestId')))
  app.onError((error, c) => {
    const asked = operations.find(({ contract }) => contract.method === c.req.method)
    return answerError((asked ?? operations[0]).contract, error, c)
  })
  return {
    fetch: runToEnd((request, bindings, execution) =>
      app.fetch(request, bindings ?? {}, execution),
    ),
  }
}

async function serve(
  { contract, answered, run }: BoundOperation,
  c: PipelineContext,
): Promise<Response> {
  const context = contextOf(contract, c.get('world'), c.req.raw, {
    credential: c.get('credential') ?? '',
    requestId: c.get('requestId'),
    later: waitUntilOf(c),
  })
  const target = contract.method === 'GET' ? 'query' : 'json'
  const input = validInput(c, target)
  const work = async (claim: string | null) => {
    const running = () => run(input, { ...context, claim }).catch(refusedIn)
    const result = await withGapStatus(contract, context.world, running)
    return isRefusal(result) ? result : JSON.stringify(answered.parse(result))
  }
  const key = contract.mutates ? idempotencyKey(c.req.raw.headers) : null
  const result =
    key === null
      ? await work(null)
      : await runOnce(contract, key, await c.req.text(), context, work)
  if (typeof result === 'string') return answer(result, context.requestId)
  return context.isAdmitted()
    ? answerRefusal(contract, result, c)
    : refuseAdmitted(contract, result, c)
}

/** Turns a Rejection, possibly of another function, into a value, as if the handler had returned it. */
function refusedIn(error: unknown): Refusal {
  if (error instanceof Rejection) return error.refusal
  throw error
}

function validInput(c: PipelineContext, target: 'query' | 'json'): unknown {
  return (c.req as { valid(target: string): unknown }).valid(target)
}

/** Answers anything thrown. Only an admitted caller learns what is wrong with its request. */
async function answerError(
  contract: Operation,
  error: unknown,
  c: PipelineContext,
): Promise<Response> {
  const refusal = refusalOfThrown(error)
  const aboutInput = ['invalid_request', 'payload_too_large', 'unsupported_media_type']
  return aboutInput.includes(refusal.refusal)
    ? refuseAdmitted(contract, refusal, c)
    : answerRefusal(contract, refusal, c)
}

/** Refuses a request that the database has not seen yet, but only to a caller that the database admits. */
async function refuseAdmitted(contract: Operation, refusal: Refusal, c: PipelineContext) {
  if (contract.access === 'public') return answerRefusal(contract, refusal, c)
  try {
    const world = c.get('world')
    const credential = c.get('credential')
    await world.db.call('check_admission', { credential, needed: contract.access })
    return answerRefusal(contract, refusal, c)
  } catch (admission) {
    return answerRefusal(contract, refusalOfThrown(admission), c)
  }
}

function refusalOfThrown(error: unknown): Refusal {
  if (error instanceof Rejection) return error.refusal
  const status = typeof error === 'object' && error !== null && 'status' in error ? error.status : 0
  // The JSON parser of the validator throws an HTTPException with status 400.
  if (status === 400) return fail('invalid_request', { message: 'The body is not valid JSON.' })
  return fail('internal_error', {
    log: error instanceof Error ? String(error.stack) : String(error),
  })
}

function answerRefusal(contract: Operation, given: Refusal, c: PipelineContext): Response {
  const requestId = c.get('requestId')
  const refusal = withOwnerPage(given, c.get('world').config)
  if (refusal.log !== undefined) {
    const { refusal: error, log } = refusal
    c.get('world').log({ requestId, operation: contract.id, error, log })
  }
  const scope = contract.access === 'any' ? 'read' : contract.access
  const asked = { scope, authorization: c.req.header('authorization') }
  return refuse(refusal, requestId, wwwAuthenticateOf(c.get('world').config, refusal, asked))
}

/** State that a request carries through the pipeline. */
type PipelineEnv = {
  Bindings: Record<string, unknown>
  Variables: { requestId: string; world: World; credential: string }
}
/** Maximum bytes of a request body; the body of a paid request travels inside it. */
const bodyBytesMax = 128 * 1024

/** Returns the first middleware of an operation; `inputValidator` follows. */
function requestChecks(contract: Operation): MiddlewareHandler<PipelineEnv>[] {
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
function inputValidator(contract: Operation) {
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

/** Runs an operation and reads the health in the meantime, so that nobody waits for it. */
async function withGapStatus(
  { gap }: Operation,
  world: World,
  run: () => Promise<object>,
): Promise<object | Refusal> {
  if (gap === undefined) return run()
  const reading = readHealth(world)
  const result = await run()
  const states = gapsSeen(world, await reading)
  const state = states.find(({ gap_id }) => gap_id === gap)
  const chain = isRefusal(result) ? undefined : chainIn(result)
  const onChain = state?.chains?.find((one) => one.chain === chain)
  return added(result, gap, (onChain ?? state)?.status ?? 'unavailable')
}

/** Adds the status where `fullResponseOf` declares it. */
function added(result: object, gap_id: GapId, gap_status: GapStatus): object {
  const status = { gap_id, gap_status }
  if (!isRefusal(result)) {
    return gap_status === 'live' && gaps[gap_id].best === 'live' ? result : { ...result, ...status }
  }
  if (result.refusal !== 'unavailable') return result
  return { ...result, details: { ...result.details, ...status } }
}

/** Returns the one chain that an answer is about: `chain` of a transfer, `network` of an x402 payment. */
function chainIn(body: object): unknown {
  if ('chain' in body) return body.chain
  if ('network' in body) return body.network
  const terms = 'terms' in body ? body.terms : undefined
  return typeof terms === 'object' && terms !== null ? chainIn(terms) : undefined
}

const pages: Partial<Record<ErrorCode, string>> = {
  account_frozen: '/freeze',
  limit_exceeded: '/limits',
  insufficient_funds: '/deposit',
  code_needs_owner: '/vault',
}

/** Returns the refusal with that page as `details.url`, if its code has one. */
function withOwnerPage(refusal: Refusal, { WEB_URL }: Pick<Config, 'WEB_URL'>): Refusal {
  const page = pages[refusal.refusal]
  if (page === undefined) return refusal
  const login = refusal.details?.['credential_id']
  const path = typeof login === 'string' ? `${page}/${login}` : page
  return { ...refusal, details: { url: `${WEB_URL}${path}`, ...refusal.details } }
}
