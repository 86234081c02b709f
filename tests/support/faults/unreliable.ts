/**
 * A network on which one request of a worker goes wrong. Everything that a worker does to the
 * outside is a request, so running once to count them and then once for each of them tries every
 * point at which it can be interrupted.
 */
import type { Fetch } from '../../../shared/world.ts'

/** `dies`: neither this request nor a later one leaves, and nothing more is heard. */
export const faults = ['dies', 'request lost', 'answer lost'] as const
export type Fault = (typeof faults)[number]
/** The request that it strikes, counted from 1. */
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

/** Every strike at a run of so many requests. */
export function strikesAt(requests: number): Strike[] {
  return Array.from({ length: requests }, (_, index) =>
    faults.map((fault) => ({ fault, at: index + 1 })),
  ).flat()
}
