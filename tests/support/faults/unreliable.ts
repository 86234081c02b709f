/**
 * A network on which one request of a worker fails. A worker affects the outside only through requests.
 * Running once to count them and then once for each of them tries every point at which the worker can be
 * interrupted.
 */
import type { Fetch } from '../../../shared/world.ts'

/** Faults of one request. After `dies`, no request leaves, this one included, and no answer arrives. */
export const faults = ['dies', 'request lost', 'answer lost'] as const
export type Fault = (typeof faults)[number]
/** A fault and the number of the request that it hits, counted from 1. */
export type Strike = { fault: Fault; at: number }

export type Unreliable = { fetch: Fetch; requests(): number }

export function unreliable(strike?: Strike): Unreliable {
  let requests = 0
  let isDead = false
  const act: Fetch = async (input, init) => {
    requests += 1
    const isStruck = strike?.at === requests
    if (isStruck && strike.fault === 'dies') isDead = true
    if (isDead || (isStruck && strike.fault === 'request lost')) throw new Error('connection lost')
    const answer = await fetch(input, init)
    if (!isDead && !isStruck) return answer
    await answer.body?.cancel()
    throw new Error('connection lost')
  }
  return { fetch: act, requests: () => requests }
}

/** Returns every strike at a run with this many requests. */
export function strikesAt(requests: number): Strike[] {
  return Array.from({ length: requests }, (_, index) =>
    faults.map((fault) => ({ fault, at: index + 1 })),
  ).flat()
}
