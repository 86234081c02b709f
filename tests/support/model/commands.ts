/**
 * Random commands in a house of their own, then housekeeping alone until nothing is open. Each command has
 * one operation and one number that determines its choices. A failure names the seed and the shortest list
 * of commands found for it.
 */

import * as fc from 'fast-check'
import { inForm } from '../cases.ts'
import { approvingOperations } from './approving.ts'
import { authorizingOperations } from './authorizing.ts'
import { mine } from './chain.ts'
import { custodyOperations, relayQueued } from './custody-work.ts'
import { diceOf } from './dice.ts'
import { enteringOperations } from './entering.ts'
import { freezingOperations } from './freezing.ts'
import { littleGas, plentyOfGas } from './gas.ts'
import type { House, Operation } from './house.ts'
import { openHouse } from './house.ts'
import { housekeepingOperations, keepModelHouse } from './housekeeping.ts'
import {
  confirmDebits,
  confirmEnd,
  confirmFreezes,
  confirmLimits,
  confirmRows,
} from './invariants.ts'
import type { Ledger } from './ledger.ts'
import { openLedger } from './ledger.ts'
import { confirmCaps, confirmConsent, confirmMandateRows } from './mandate-invariants.ts'
import { mandateShoppingOperations } from './mandate-shopping.ts'
import { mandateWordOperations } from './mandate-words.ts'
import { mandatingOperations } from './mandating.ts'
import { naturalOperations, tick } from './nature.ts'
import { ownerOperations } from './owner.ts'
import type { Payment } from './state.ts'
import { isLive } from './state.ts'

const operations: readonly Operation[] = [
  ...enteringOperations,
  ...authorizingOperations,
  ...custodyOperations,
  ...housekeepingOperations,
  ...ownerOperations,
  ...freezingOperations,
  ...approvingOperations,
  ...mandatingOperations,
  ...mandateWordOperations,
  ...mandateShoppingOperations,
  ...naturalOperations,
]

type Counter = { run: number }
type Command = fc.AsyncCommand<Counter, House>

const commandsMax = 1000
const ledgersAtOnce = 3
const confirmedEvery = 150

function commandOf(operation: Operation, seed: number): Command {
  return {
    check: () => true,
    run: async (counter, house) => {
      await operation.run(house, diceOf(seed))
      counter.run += 1
      if (counter.run % confirmedEvery === 0) await confirm(house)
    },
    toString: () => `${operation.name}(${seed})`,
  }
}

const anyCommand = fc.oneof(
  ...operations.map((operation) => ({
    weight: operation.weight,
    arbitrary: fc.nat().map((seed) => commandOf(operation, seed)),
  })),
)

const runsAtOnce = inForm(1, 5)
const shrinkMilliseconds = 60_000

export type Ran = { operations: number; seconds: number }

/**
 * Runs at least this many operations against several ledgers at once, so that one works while another is
 * compared. A failure is thrown with the shortest commands that cause it.
 */
export async function runOperations(atLeast: number, seed: number): Promise<Ran> {
  const started = performance.now()
  const counter = { run: 0 }
  let next = seed
  await Promise.all(
    Array.from({ length: ledgersAtOnce }, async () => {
      const ledger = await openLedger()
      try {
        while (counter.run < atLeast) {
          next += 1
          await fc.assert(agreement(ledger, counter), {
            seed: next,
            numRuns: runsAtOnce,
            interruptAfterTimeLimit: shrinkMilliseconds,
          })
        }
      } finally {
        await ledger.close()
      }
    }),
  )
  return { operations: counter.run, seconds: (performance.now() - started) / 1000 }
}

/** States the property: the ledger agrees with its twin and keeps its invariants in every order. */
function agreement(ledger: Ledger, counter: Counter) {
  const lists = fc.commands([anyCommand], { maxCommands: commandsMax, size: 'max' })
  const terms = fc.constantFrom(plentyOfGas, littleGas)
  return fc.asyncProperty(lists, terms, async (commands, gasTerms) => {
    const house = await openHouse(ledger, gasTerms)
    try {
      await fc.asyncModelRun(() => ({ model: counter, real: house }), commands)
      await confirm(house)
      await comeToRest(house)
    } catch (error) {
      const last = house.trace.map((call) => JSON.stringify(call)).join('\n')
      throw new Error(`${String(error)}\n\nlast calls:\n${last}`, { cause: error })
    }
  })
}

async function confirm(house: House): Promise<void> {
  await confirmRows(house)
  await confirmFreezes(house)
  await confirmMandateRows(house)
  await confirmConsent(house)
  confirmLimits(house)
  confirmCaps(house)
  confirmDebits(house)
}

/** Rounds that last much longer than an authorization is valid and its block takes to be final. */
const restingRounds = 20
const roundSeconds = 200
const roundBlocks = 4

/** Checks that everything open ends in bounded time with housekeeping and blocks alone. */
async function comeToRest(house: House): Promise<void> {
  const dice = diceOf(0)
  house.works = []
  for (let round = 0; round < restingRounds; round += 1) {
    await tick(house, roundSeconds)
    await keepModelHouse(house, dice)
    await relayQueued(house, dice)
    for (let block = 0; block < roundBlocks; block += 1) mine(house.chain, house.twin.now, dice)
    if (house.twin.payments.every(isOver)) break
  }
  await confirm(house)
  confirmEnd(house)
}

function isOver(payment: Payment): boolean {
  if (payment.state === 'settled') return payment.finality === 'finalized'
  return !isLive(payment)
}
