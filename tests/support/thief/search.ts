/**
 * Searches for the strategy that takes the most, compared with what account_exposure stated before. Many
 * thieves try at the same time, each with an account of its own in one world, against the real handlers.
 * The next ones resemble those that took most.
 */
import { getAddress } from 'ethers'
import { closing } from '../ending.ts'
import type { Dice } from '../model/dice.ts'
import { mine } from '../play/blocks.ts'
import { sumOf } from '../play/invariants.ts'
import { openShopOf } from '../play/outside-acts.ts'
import { house } from '../play/owner-acts.ts'
import { act } from '../play/perform.ts'
import { openAccount, openStage, type Play, type Stage } from '../play/play.ts'
import { anyGenome, type Genome, moments, mutated } from './life.ts'
import { payWith, prepareAccount } from './moves.ts'

/** Amount that a strategy took within the horizon, and the amount that was stated. */
export type Taken = { genome: Genome; hours: number; stated: bigint; left: bigint }

export type Search = {
  tried: number
  /** Highest share; 1 means all of what was stated. */
  best: { share: number; taken: Taken | undefined }
  /** Strategies that took more than was stated. */
  over: Taken[]
}

const groupSize = 20
const elite = 6

/** Tries strategies, a group at a time in a world of its own. */
export async function searchThief(
  dice: Dice,
  strategies: number,
  tell: (search: Search) => void,
): Promise<Search> {
  const search: Search = { tried: 0, best: { share: 0, taken: undefined }, over: [] }
  let parents: Taken[] = []
  while (search.tried < strategies && search.over.length === 0) {
    const count = Math.min(groupSize, strategies - search.tried)
    const genomes = Array.from({ length: count }, (_, at) => {
      const parent = parents[dice.below(Math.max(parents.length, 1))]
      return parent && at % 4 > 0 ? mutated(dice, mutated(dice, parent.genome)) : anyGenome(dice)
    })
    const taken = await closing(() => tryAll(genomes))
    parents = keepBest(search, [...parents, ...taken])
    search.tried += count
    tell(search)
  }
  return search
}

function keepBest(search: Search, taken: readonly Taken[]): Taken[] {
  const ranked = taken.toSorted((a, b) => shareOf(b) - shareOf(a))
  const [first] = ranked
  if (first) search.best = { share: shareOf(first), taken: first }
  search.over.push(...ranked.filter(({ stated, left }) => left > stated))
  const ofHours = (hours: number) => ranked.filter((one) => one.hours === hours).slice(0, elite / 2)
  return [...ofHours(1), ...ofHours(24)]
}

/** Returns one result as a line. */
export function lineOfTaken({ genome, hours, stated, left }: Taken): string {
  return `${left} of ${stated} within ${hours} h: ${JSON.stringify(genome)}`
}

function shareOf({ stated, left }: Taken): number {
  return stated === 0n ? 0 : Number((left * 10_000n) / stated) / 10_000
}

const setting = { gasPayers: 2, endpoints: 'one', gasPayersMillionths: 1_000_000_000 } as const
const beforeSeconds = 20 * 3_600

async function tryAll(genomes: readonly Genome[]): Promise<Taken[]> {
  const stage = await openStage(setting)
  const plays: Play[] = []
  for (const [at] of genomes.entries()) plays.push(await openAccount(stage, payeesOf(at)))
  openShopOf(stage, (payee) => plays.find(({ payees }) => payees.includes(payee)))
  const both = plays.flatMap((play, at) => {
    const genome = genomes[at]
    return genome ? [{ play, genome }] : []
  })
  await prepareAll(stage, both)
  const began = stage.clock.seconds()
  for (const { play } of both) await act(play, { do: 'expose' })
  for (const moment of moments) {
    await stage.clock.advance(Math.max(1, began + moment - stage.clock.seconds()))
    await mine(stage.world.chain, 12)
    if (plays[0]) await house(plays[0])
    await inTurns(both, async ({ play, genome }) => {
      for (const move of genome.moves) if (move.at === moment) await payWith(play, move)
    })
    await mine(stage.world.chain)
  }
  await stage.clock.advance(86_400 - 30 - (stage.clock.seconds() - began))
  await mine(stage.world.chain, 12)
  return (await Promise.all(both.map(takenOf))).flat()
}

/** Pays the earlier payments first, and just before the statement creates approved and held ones. */
async function prepareAll(stage: Stage, both: readonly { play: Play; genome: Genome }[]) {
  const [first] = both
  for (const phase of ['long before', 'just before'] as const) {
    await inTurns(both, ({ play, genome }) => prepareAccount(play, genome.situation, phase))
    await mine(stage.world.chain, 12)
    if (first) await house(first.play)
    await stage.clock.advance(phase === 'long before' ? beforeSeconds : 5)
    await mine(stage.world.chain, 12)
    if (first) await house(first.play)
  }
}

const atOnce = 5

async function inTurns<Item>(items: readonly Item[], run: (item: Item) => Promise<void>) {
  for (let at = 0; at < items.length; at += atOnce) {
    await Promise.all(items.slice(at, at + atOnce).map(run))
  }
}

async function takenOf({ play, genome }: { play: Play; genome: Genome }): Promise<Taken[]> {
  const outflows = await play.outflows.read()
  return play.book.stated.map(({ at, hours, micros }) => {
    const within = outflows.filter((one) => one.at > at && one.at <= at + hours * 3_600 - 60)
    return { genome, hours, stated: micros, left: sumOf(within) }
  })
}

function payeesOf(at: number): string[] {
  const tail = `${at}`.padStart(4, '0')
  return ['a', 'b'].map((end) => getAddress(`0x${'7'.repeat(35)}${tail}${end}`))
}
