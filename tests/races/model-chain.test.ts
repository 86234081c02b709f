import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { inForm } from '../support/cases.ts'
import { openMarket } from '../support/market.ts'
import { diceOf } from '../support/model/dice.ts'
import { type Event, events, openStreet, type Street } from '../support/model/street.ts'
import { confirmStreet, confirmStreetEnd } from '../support/model/street-invariants.ts'
import { seed } from '../support/seed.ts'

const market = await openMarket({ gasPayers: 3 })
const runs = inForm(1, 3)
const commandsMax = 100
const commandsMin = inForm(20, 50)

type Counter = { run: number }

function commandOf(event: Event, seed: number): fc.AsyncCommand<Counter, Street> {
  return {
    check: () => true,
    run: async (counter, street) => {
      await event.run(street, diceOf(seed))
      await confirmStreet(street)
      counter.run += 1
    },
    toString: () => `${event.name}(${seed})`,
  }
}

const anyCommand = fc.oneof(
  ...events.map((event) => ({
    weight: event.weight,
    arbitrary: fc.nat().map((seed) => commandOf(event, seed)),
  })),
)

test('whatever agents, merchants and the chain do, each payment is debited once and ends in time', {
  timeout: 300_000,
}, async () => {
  const counter = { run: 0 }
  const lists = fc.commands([anyCommand], { maxCommands: commandsMax, size: 'max' })
  const property = fc.asyncProperty(lists, async (commands) => {
    const street = await openStreet(market)
    await fc.asyncModelRun(() => ({ model: counter, real: street }), commands)
    await confirmStreetEnd(street)
  })

  await fc.assert(property, {
    seed: seed,
    numRuns: runs,
    // The runs share a chain, so a shorter list would not meet the state of the failed run.
    endOnFailure: true,
  })

  expect(counter.run).toBeGreaterThanOrEqual(commandsMin)
})
