/** Networks between a worker and the database that lose single calls or let several arrive together. */
import type { Fetch } from '../../../shared/world.ts'
import { askedFor } from '../held.ts'

/** Loses every call of an SQL function before it arrives. */
export function refusing(name: string): Fetch {
  return (input, init) =>
    askedFor(input, init) === name
      ? Promise.reject(new Error('the connection was lost'))
      : fetch(input, init)
}

/** Runs claims one after the other, and holds the storing of signatures until `count` have claimed. */
export function claimingTogether(count: number): Fetch {
  const storing = gathering('custody_record_claim', count)
  let turn: Promise<unknown> = Promise.resolve()
  return (input, init) => {
    if (askedFor(input, init) !== 'custody_claim') return storing(input, init)
    const claim = turn.then(() => fetch(input, init))
    turn = claim.catch(() => undefined)
    return claim
  }
}

/** Holds back the first calls of an SQL function until `count` of them have come. */
export function gathering(name: string, count: number): Fetch {
  let come = 0
  const { promise, resolve } = Promise.withResolvers<void>()
  return async (input, init) => {
    if (askedFor(input, init) === name) {
      come += 1
      if (come === count) resolve()
      if (come <= count) await promise
    }
    return fetch(input, init)
  }
}
