/** Random sequences of calls by agents with accounts of their own; the books are checked after each. */
import * as fc from 'fast-check'
import { diceOf } from '../model/dice.ts'
import { agentActs } from './agent-acts.ts'
import { confirmBooks } from './books.ts'
import { naturalActs, ownerActs } from './owner-acts.ts'
import { type Act, openAccount, type Street } from './street.ts'

const actsMax = 18

export type Ran = { sequences: number; calls: number; payments: number }

/** Runs sequences in parallel on several streets. The owner either approves now and then or never acts. */
export async function runSequences(
  streets: readonly Street[],
  options: { sequences: number; seed: number; isOwnerThere: boolean },
): Promise<Ran> {
  const acts = [...agentActs, ...naturalActs, ...(options.isOwnerThere ? ownerActs : [])]
  const ran = { sequences: 0, calls: 0, payments: 0 }
  const numRuns = Math.ceil(options.sequences / streets.length)
  await Promise.all(
    streets.map((street, at) =>
      fc.assert(unbroken(street, acts, ran), { seed: options.seed + at, numRuns }),
    ),
  )
  return ran
}

/** States the property: after any sequence of an agent's acts, the books of its account are right. */
function unbroken(street: Street, acts: readonly Act[], ran: Ran) {
  const sequence = fc.array(stepOf(acts), { minLength: 4, maxLength: actsMax, size: 'max' })
  return fc.asyncProperty(sequence, async (steps) => {
    const account = await openAccount(street)
    for (const { act, seed } of steps) {
      await act.run(account, diceOf(seed))
      // Which of two acts came first is judged by time.
      await street.market.tick(1)
      ran.calls += 1
    }
    ran.payments += await confirmBooks(account)
    ran.sequences += 1
  })
}

/** Draws one act and the number that determines its choices. */
function stepOf(acts: readonly Act[]) {
  return fc.oneof(
    ...acts.map((act) => ({
      weight: act.weight,
      arbitrary: fc.nat().map((seed) => ({
        act,
        seed,
        [fc.toStringMethod]: () => `${act.name}(${seed})`,
      })),
    })),
  )
}
