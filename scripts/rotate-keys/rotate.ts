/**
 * Moves the keys of a ring under the root that seals, in pages, while the service runs. A key whose wrap
 * was replaced meanwhile stays as it is. A key that does not open is reported and skipped. An interrupted
 * rotation is therefore simply run again.
 */
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import * as z from 'zod'
import { readRoots } from '../../shared/sealing/roots.ts'
import { rewrapKey } from '../../shared/sealing/wrap.ts'
import { writePrivate } from '../local/secrets.ts'
import type { KeyCount, KeyRing, Move, WrappedKey } from './key-ring.ts'
import type { KeyCase } from './settings.ts'

/** Keys in a page. PostgREST returns at most 1,000 rows unless it is configured otherwise. */
const pageKeys = 200
/** One page is wrapped while the other is stored; more would only take connections from the service. */
const pagesAtOnce = 2

/** Settings of a rotation. */
type RotationOptions = {
  /** True to open and wrap every key and store nothing. */
  isDry: boolean
  /** Signal that ends the rotation after the pages that are being moved. */
  signal: AbortSignal
  /** Receives, after each page, the number of keys that were moved or did not open so far. */
  progress: (keys: number) => void
}

/** The result of a rotation. */
export type Rotated = {
  /** Number of keys that were moved; in a dry run, of those that would be. */
  moved: number
  /** Keys that did not open, with the reason. */
  faults: { key: string; fault: string }[]
}

/** Goes through all keys once. */
export async function rotate(ring: KeyRing, options: RotationOptions): Promise<Rotated> {
  const rotated: Rotated = { moved: 0, faults: [] }
  // All workers share one listing, so each page goes to the first that is free.
  const pages = pagesOf(ring, options.signal)
  const work = async () => {
    for await (const page of pages) {
      const { moves, faults } = rewrapPage(ring, page)
      rotated.faults.push(...faults)
      // The other worker adds to the sum during this wait, so the sum is read only afterwards.
      const moved = options.isDry ? moves.length : await ring.rewrap(moves)
      rotated.moved += moved
      options.progress(rotated.moved + rotated.faults.length)
    }
  }
  await Promise.all(Array.from({ length: pagesAtOnce }, work))
  return rotated
}

async function* pagesOf(ring: KeyRing, signal: AbortSignal): AsyncGenerator<WrappedKey[]> {
  let after: string | undefined
  while (!signal.aborted) {
    const page = await ring.list(after, pageKeys)
    after = page.at(-1)?.key
    if (after === undefined) return
    yield page
  }
}

function rewrapPage({ roots }: KeyRing, page: readonly WrappedKey[]) {
  const moves: Move[] = []
  const faults: Rotated['faults'] = []
  for (const { key, owner, wrap: was } of page) {
    try {
      moves.push({ key, was, wrap: rewrapKey(roots, random, owner, was) })
    } catch (error) {
      faults.push({ key, fault: error instanceof Error ? error.message : String(error) })
    }
  }
  return { moves, faults }
}

function random(length: number): Uint8Array {
  return new Uint8Array(randomBytes(length))
}

const rootsText = z.record(z.string(), z.union([z.string(), z.int()]))
const schema = z.looseObject({ vault_roots: rootsText, custody_roots: rootsText })

/** Adds a version to the roots of vault and custody. Returns the lines to print. */
export function addRoots(file: string): string[] {
  const secrets = schema.parse(JSON.parse(readFileSync(file, 'utf8')))
  const [vault, custody] = [withNewRoot(secrets.vault_roots), withNewRoot(secrets.custody_roots)]
  writePrivate(file, { ...secrets, vault_roots: vault.roots, custody_roots: custody.roots })
  return [
    `${file}: version ${vault.added} of the vault's root and version ${custody.added} of custody's`,
    'Stop the local world, start it again so that its functions know them, then run this once more.',
  ]
}

/** Lets the old version go on sealing, because the running functions do not know the new one. */
function withNewRoot(roots: z.output<typeof rootsText>) {
  // The purpose has no influence on versions, so one reading of the text serves both.
  const { versions, sealingVersion } = readRoots(JSON.stringify(roots), 'vault')
  const added = Math.max(...versions) + 1
  const secret = randomBytes(32).toString('base64')
  return { added, roots: { ...roots, [added]: secret, sealing: sealingVersion } }
}

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
  say(`${countsInWords(await ring.count())}; version ${roots.sealingVersion} seals`)
  let reportedKeys = 0
  const progress = (keys: number) => {
    if (keys - reportedKeys < progressKeys) return
    reportedKeys = keys
    say(`${keys.toLocaleString('en')} keys`)
  }
  const { moved, faults } = await rotate(ring, { ...options, progress })
  for (const { key, fault } of faults.slice(0, faultsShown)) say(`${key} does not open: ${fault}`)
  say(`${keysOf(moved)} ${options.isDry ? 'would be moved' : 'moved'}`)
  if (faults.length > 0) say(`${keysOf(faults.length)} did not open and stayed as they are`)
  const counts = await ring.count()
  const others = counts.filter(({ version }) => version !== roots.sealingVersion)
  const isThere = others.length === 0 || options.isDry
  if (!isThere) say(`${countsInWords(others)}: not moved`)
  return isThere && faults.length === 0
}

function countsInWords(counts: readonly KeyCount[]): string {
  const parts = counts.map(({ version, keys }) => `${keysOf(keys)} under version ${version}`)
  return parts.length > 0 ? parts.join(', ') : 'no keys'
}

function keysOf(count: number): string {
  return `${count.toLocaleString('en')} ${count === 1 ? 'key' : 'keys'}`
}
