/**
 * Sends JSON-RPC to a chain: a single call or a batch, each answered by one endpoint in one round trip. A
 * read goes on to the next endpoint if one gives no answer, within the call's time. An error about a call
 * is an answer and never counts against the endpoint that gave it.
 */
import type { World } from '../../../world.ts'
import type { Chain } from '../../chain.ts'
import {
  afterFailure,
  byPreference,
  operatorOf,
  type RpcAnswer,
  type RpcCall,
} from './endpoints.ts'
import { type ExchangeBounds, exchange, unreachable } from './exchange.ts'

/** The parts of the world that reading a chain needs. */
export type ChainWorld = Pick<World, 'fetch' | 'deadline' | 'now' | 'endpointHealth'> & {
  config: Pick<World['config'], 'chainRpcUrls'>
}

/** Limits on a read. */
export type RpcLimits = {
  /** Time for all endpoints together; three seconds if absent. */
  timeoutMilliseconds?: number
  /** If false, the next endpoint is asked as well, as it may know more. This one is not set aside. */
  isEnough?: (answers: readonly RpcAnswer[]) => boolean
  /** Longest answer in bytes; one mebibyte if absent. */
  responseBytesMax?: number
}

/** Connection to a chain. */
export type Rpc = {
  request(method: string, params: readonly unknown[], limits?: RpcLimits): Promise<RpcAnswer>
  /** Returns the answers in the order of the calls, all from one endpoint. */
  batch(calls: readonly RpcCall[], limits?: RpcLimits): Promise<RpcAnswer[]>
}

const defaultTimeoutMilliseconds = 3_000
const defaultResponseBytesMax = 1_048_576

/** Returns a connection for reads, which asks the chain's endpoints in turn until one answers. */
export function rpcFor(world: ChainWorld, chain: Chain): Rpc {
  return openRpc(world, () => preferredUrls(world, chain))
}

/** Returns a connection to each endpoint, the best first: for writes, and for answers to compare. */
export function rpcsFor(world: ChainWorld, chain: Chain): Rpc[] {
  return endpointsFor(world, chain).map(({ rpc }) => rpc)
}

/** Returns a connection to each endpoint, with its operator. */
export function endpointsFor(world: ChainWorld, chain: Chain): { operator: string; rpc: Rpc }[] {
  const urls = preferredUrls(world, chain)
  return urls.map((url) => ({ operator: operatorOf(url), rpc: openRpc(world, () => [url]) }))
}

function preferredUrls(world: ChainWorld, { caip2 }: Chain): string[] {
  const urls = world.config.chainRpcUrls[caip2] ?? []
  return byPreference(urls, world.endpointHealth, world.now().getTime())
}

function openRpc(world: ChainWorld, urlsNow: () => string[]): Rpc {
  const batch: Rpc['batch'] = (calls, limits) => askInTurn(world, urlsNow(), calls, limits)
  const request: Rpc['request'] = async (method, params, limits) => {
    const [answer] = await batch([{ method, params }], limits)
    return answer ?? unreachable('no answer')
  }
  return { request, batch }
}

async function askInTurn(
  world: ChainWorld,
  urls: readonly string[],
  calls: readonly RpcCall[],
  limits: RpcLimits = {},
): Promise<RpcAnswer[]> {
  const { timeoutMilliseconds = defaultTimeoutMilliseconds, isEnough = () => true } = limits
  const { responseBytesMax = defaultResponseBytesMax } = limits
  const end = world.deadline(timeoutMilliseconds)
  let best = calls.map(() => unreachable('not connected'))
  for (const [index, url] of urls.entries()) {
    // Each endpoint gets half of the remaining time, so that a silent one leaves time for the next.
    const share = Math.ceil(timeoutMilliseconds / 2 ** (index + 1))
    const signal = index === urls.length - 1 ? end : world.deadline(share)
    const { answers, isAnswered } = await askEndpoints(world, url, calls, {
      signal,
      responseBytesMax,
    })
    if (isAnswered && isEnough(answers)) return answers
    if (isAnswered || index === 0) best = answers
  }
  return best
}

/** Asks one endpoint and updates its record. */
async function askEndpoints(
  world: ChainWorld,
  url: string,
  calls: readonly RpcCall[],
  bounds: ExchangeBounds,
) {
  const { answers, retryAfterMilliseconds } = await exchange(world, url, calls, bounds)
  const { endpointHealth } = world
  const isAnswered = answers.every(isAnswer)
  if (isAnswered) endpointHealth.delete(url)
  else {
    const before = endpointHealth.get(url)
    endpointHealth.set(url, afterFailure(before, world.now().getTime(), retryAfterMilliseconds))
  }
  return { answers, isAnswered }
}

function isAnswer(answer: RpcAnswer): boolean {
  return !('failure' in answer && answer.failure.kind === 'unreachable')
}
