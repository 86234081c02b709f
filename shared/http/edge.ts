/**
 * Binds a contract and a handler to an edge function: the stages of every request (shared/README.md). Path
 * and method, token form, media type and size, input, handler, declared answer. A caller that is not
 * admitted gets 401 or 403 before it learns anything about its request.
 */
import type { Context as HonoContext } from 'hono'
import { Hono } from 'hono/tiny'
import type * as z from 'zod'
import { fullResponseOf } from '../contract/answered.ts'
import type { Refusal } from '../contract/errors.ts'
import { fail, isRefusal, Rejection } from '../contract/errors.ts'
import type { Operation } from '../contract/operation.ts'
import type { World } from '../world.ts'
import { worldFrom } from '../world.ts'
import { answer, refuse, wrongPath } from './answer.ts'
import { contextOf, idempotencyKey } from './caller.ts'
import { wwwAuthenticateOf } from './challenge.ts'
import { withGapStatus } from './gap-answer.ts'
import type { PipelineEnv } from './gates.ts'
import { inputValidator, requestChecks } from './gates.ts'
import type { Context, Handler } from './handler.ts'
import { runOnce } from './idempotency.ts'
import type { Serving } from './later.ts'
import { runToEnd, waitUntilOf } from './later.ts'
import { withOwnerPage } from './owner-page.ts'

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
