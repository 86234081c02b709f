/** A greedy search over thieves' strategies for an effect that the table does not name. */
import * as z from 'zod'
import type { Dice } from '../model/dice.ts'
import { shrunk } from '../play/shrink.ts'
import { endRobbery } from './aftermath.ts'
import { call } from './calls.ts'
import type { Town } from './home.ts'
import { openHome } from './home.ts'
import { effectsHeard, effectsOn, stateOf } from './loot.ts'
import type { Move } from './moves.ts'
import { drawMove, letSettle, make } from './moves.ts'
import type { Effect, Row, RowName } from './table.ts'
import { rowNames, table } from './table.ts'
import type { Thief } from './thief.ts'
import { openThief } from './thief.ts'

export type Strategy = { row: RowName; moves: readonly Move[] }
/**
 * The outcome of a strategy. `beyond` describes effects that the table does not allow or that the owner
 * cannot end.
 */
export type Robbery = {
  strategy: Strategy
  effects: Set<Effect>
  beyond: string[]
  isLockedOut: boolean
  /** Amount moved, as a fraction of the stated one. */
  share: number
}
export type Search = {
  tried: number
  lockedOut: number
  effects: Map<RowName, Set<Effect>>
  share: number
}

const movesMax = 12
const elite = 4
const shrinkMilliseconds = 30_000

/** Tries strategies for each row in turn. Throws with the shortest one that goes beyond the table. */
export async function searchTable(
  town: Town,
  dice: Dice,
  strategies: number,
  tell: (search: Search) => void = () => undefined,
): Promise<Search> {
  const best = new Map<RowName, Robbery[]>()
  const search: Search = { tried: 0, lockedOut: 0, effects: new Map(), share: 0 }
  while (search.tried < strategies) {
    const row = rowNames[search.tried % rowNames.length] ?? 'mailbox'
    const robbery = await rob(town, drawStrategy(dice, row, best.get(row) ?? []))
    search.tried += 1
    if (robbery.beyond.length > 0) await throwShortest(town, robbery)
    if (robbery.isLockedOut) search.lockedOut += 1
    search.share = Math.max(search.share, robbery.share)
    const seen = search.effects.get(row) ?? new Set()
    search.effects.set(row, new Set([...seen, ...robbery.effects]))
    best.set(row, keepBest([...(best.get(row) ?? []), robbery]))
    tell(search)
  }
  return search
}

/** Returns the robberies with the most effects, one of each combination. */
function keepBest(robberies: readonly Robbery[]): Robbery[] {
  const worth = ({ effects, share }: Robbery) => effects.size + share
  const ranked = robberies.toSorted((a, b) => worth(b) - worth(a))
  const kindOf = ({ effects }: Robbery) => [...effects].toSorted().join()
  const unlike = ranked.filter(
    (one, at) => ranked.findIndex((other) => kindOf(other) === kindOf(one)) === at,
  )
  return unlike.slice(0, elite)
}

function drawStrategy(dice: Dice, row: RowName, parents: readonly Robbery[]): Strategy {
  const parent = dice.isLucky(70) ? dice.anyOf(parents) : undefined
  const fresh = () => Array.from({ length: 1 + dice.below(5) }, () => drawMove(dice, row))
  if (!parent) return { row, moves: fresh() }
  const { moves } = parent.strategy
  const at = dice.below(Math.max(moves.length, 1))
  const changed = dice.isLucky(30) ? moves.toSpliced(at, 1) : moves
  return { row, moves: [...changed, ...fresh()].slice(-movesMax) }
}

/** Plays a strategy in a home of its own. */
export async function rob(town: Town, strategy: Strategy): Promise<Robbery> {
  const { row, moves } = strategy
  await town.world.db.sql`delete from private.rate_buckets`
  const home = await openHome(town, table[row].passkey)
  const thief = await openThief(home, row)
  const stated = await statedFor(thief)
  thief.heard = []
  const before = await stateOf(home)
  const since = await timeNow(town)
  for (const move of moves) await make(thief, move)
  await letSettle(thief)
  const after = await stateOf(home)
  const found = new Map([...effectsOn(before, after), ...effectsHeard(thief, before)])
  const { left, isLockedOut } = await endRobbery(thief, before, since)
  const effects = new Set(found.keys())
  const moved = before.micros - (await stateOf(home)).micros
  return {
    strategy,
    effects,
    isLockedOut,
    share: stated === 0n ? 0 : Number((moved * 1000n) / stated) / 1000,
    beyond: [
      ...beyondTable(table[row], found),
      ...beyondMoney(row, moved, stated),
      ...(isLockedOut && !effects.has('sets the password') ? ['the owner does not come in'] : []),
      ...left,
    ],
  }
}

function beyondTable({ may }: Row, found: Map<Effect, string>): string[] {
  return [...found].filter(([effect]) => !may.includes(effect)).map((one) => one.join(': '))
}

function beyondMoney(row: RowName, moved: bigint, stated: bigint): string[] {
  if (row === 'password alone' || moved <= stated) return []
  return [`moves money: ${moved} of ${stated} that were stated`]
}

const exposure = z.object({
  horizons: z.array(z.object({ hours: z.int(), total_usd: z.string() })),
})

/** Returns the micro-USD that account_exposure states for a day; zero if the stolen item may not ask. */
async function statedFor(thief: Thief): Promise<bigint> {
  const [bearer] = thief.bearers
  if (bearer === undefined) return 0n
  const asked = { id: 'account_exposure', pick: 0, mimics: true }
  const { body } = await call(thief, bearer, asked)
  const parsed = exposure.safeParse(body)
  const ofDay = parsed.data?.horizons.find(({ hours }) => hours === 24)
  return BigInt(Math.round(Number(ofDay?.total_usd ?? '0') * 1_000_000))
}

async function timeNow({ world }: Town): Promise<string> {
  const [row] = await world.db.sql`select private.clock()::text as at`
  await world.tick(1)
  return String(row?.['at'])
}

async function throwShortest(town: Town, robbery: Robbery): Promise<never> {
  const { row, moves } = robbery.strategy
  const kindOf = ([first = '']: readonly string[]) => first.replace(/[:0-9a-f-]{8,}.*/, '')
  const fails = async (shorter: readonly Move[]) =>
    kindOf((await rob(town, { row, moves: shorter })).beyond) === kindOf(robbery.beyond)
  const short = await shrunk(moves, (move) => move.do, fails, shrinkMilliseconds)
  const script = short.map((move) => JSON.stringify(move)).join('\n')
  throw new Error(`with ${row}: ${robbery.beyond.join('\n')}\n\nthe shortest strategy:\n${script}`)
}
