/** Rotates the keys that share roots, and prints the result for an operator. */
import type { KeyCount, KeyRing } from './key-ring.ts'
import { type RotationOptions, rotate } from './rotate.ts'
import type { KeyCase } from './settings.ts'

const progressKeys = 10_000
const faultsShown = 20

type Options = Pick<RotationOptions, 'isDry' | 'signal'>

/** Returns true if all keys are under the root that seals, or in a dry run if all could be. */
export async function reportCase({ binding, rings }: KeyCase, options: Options): Promise<boolean> {
  const left = new Set<number>()
  let isDone = true
  for (const ring of rings) {
    const isMoved = await reportRing(ring, options)
    isDone &&= isMoved
    for (const { version } of await ring.count()) left.add(version)
  }
  const [{ roots }] = rings
  // A later version than the one that seals is a root that is being added, not one to be removed.
  const older = roots.versions.filter((version) => version < roots.sealingVersion)
  for (const version of older.filter((one) => !left.has(one))) {
    console.log(`no key is left under version ${version}: it may be removed from ${binding}`)
  }
  return isDone
}

async function reportRing(ring: KeyRing, options: Options): Promise<boolean> {
  const { purpose, roots } = ring
  const say = (words: string) => console.log(`${purpose.padEnd(7)}  ${words}`)
  say(`${told(await ring.count())}; version ${roots.sealingVersion} seals`)
  let toldKeys = 0
  const progress = (keys: number) => {
    if (keys - toldKeys < progressKeys) return
    toldKeys = keys
    say(`${keys.toLocaleString('en')} keys`)
  }
  const { moved, faults } = await rotate(ring, { ...options, progress })
  for (const { key, fault } of faults.slice(0, faultsShown)) say(`${key} does not open: ${fault}`)
  say(`${keysOf(moved)} ${options.isDry ? 'would be moved' : 'moved'}`)
  if (faults.length > 0) say(`${keysOf(faults.length)} did not open and stayed as they are`)
  const counts = await ring.count()
  const others = counts.filter(({ version }) => version !== roots.sealingVersion)
  const isThere = others.length === 0 || options.isDry
  if (!isThere) say(`${told(others)}: not moved`)
  return isThere && faults.length === 0
}

function told(counts: readonly KeyCount[]): string {
  const parts = counts.map(({ version, keys }) => `${keysOf(keys)} under version ${version}`)
  return parts.length > 0 ? parts.join(', ') : 'no keys'
}

function keysOf(count: number): string {
  return `${count.toLocaleString('en')} ${count === 1 ? 'key' : 'keys'}`
}
