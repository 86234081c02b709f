/** The faults of a bad day: workers that die at any step, and a chain that takes blocks back. */
import { setTimeout as pause } from 'node:timers/promises'
import { openCustody } from '../../../shared/custody/custody.ts'
import { openDatabase } from '../../../shared/db/database.ts'
import { type Fetch, type World, worldFrom } from '../../../shared/world.ts'
import { callRpc } from '../../local/chain/rpc.ts'
import { type BenchWorld, bindingsOf } from '../world.ts'

const crashShare = 0.05
const reorgEveryMilliseconds = 4_000
const reorgDepthMax = 8

/** Opens the product within this process, custody included, over a network that the caller gives. */
export function inProcess(bench: BenchWorld, rpcUrl: string, fetch: Fetch): World {
  const bindings = bindingsOf(bench, rpcUrl)
  const open = (names: readonly string[]): World => {
    const held = Object.fromEntries(Object.entries(bindings).filter(([n]) => !names.includes(n)))
    const base = worldFrom(held)
    return { ...base, fetch, db: openDatabase(base.config, fetch), log: () => undefined }
  }
  const custody = openCustody(open(['SUPABASE_SERVICE_KEY']))
  return { ...open(['CUSTODY_DATABASE_KEY', 'CUSTODY_ROOT_KEYS']), custody }
}

/** Returns a network on which the worker may die at each request; a dead worker cannot use it any more. */
export function mortal(random: () => number): Fetch {
  let isDead = false
  const mayDie = () => {
    isDead ||= random() < crashShare / 2
    if (isDead) throw new Error('the worker died')
  }
  return async (input, init) => {
    mayDie()
    const answer = await globalThis.fetch(input, init)
    mayDie()
    return answer
  }
}

/** Takes up to eight blocks back, again and again, until `end` is aborted. */
export async function reorganize({ chain }: BenchWorld, random: () => number, end: AbortSignal) {
  while (!end.aborted) {
    await pause(reorgEveryMilliseconds)
    const depth = 1 + Math.floor(random() * reorgDepthMax)
    await callRpc(chain.rpcUrl, [['anvil_reorg', depth, []]])
  }
}
