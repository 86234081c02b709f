/**
 * A complete change of the root key under traffic. A new root becomes known, seals, takes over every key
 * and is then the only one, while isolates are replaced one by one and the rotation runs as its own
 * program. Meanwhile nothing may fail, and at the end everything must open with the new root alone.
 */

import { expect } from 'vitest'
import * as z from 'zod'
import { readRoots } from '../../shared/sealing/roots.ts'
import { wrapSchema } from '../../shared/sealing/wrap.ts'
import { decodeSecret } from '../../shared/vault/entries/record.ts'
import { openRecord, readSealed } from '../../shared/vault/envelope.ts'
import { project } from './database.ts'
import { runRotation } from './rotate-program.ts'
import { addSleepers, keyInHex, rootKeys, storedKeys } from './rotation.ts'
import { openTraffic, type Truth } from './rotation-traffic.ts'
import type { Random } from './seed.ts'
import { start, type TestWorld, type Worker } from './world.ts'

const isolatesCount = 4
const [old, early, both, young] = [
  rootKeys([1]),
  rootKeys([1, 2], 1),
  rootKeys([1, 2]),
  rootKeys([2]),
]

const sealedRow = z.object({
  account: z.uuid(),
  record: z.string(),
  version: z.int(),
  site: z.string(),
  sealed: z.unknown().transform(readSealed),
  wrap: wrapSchema,
})
const sealedRows = z.array(sealedRow)
type SealedRow = z.output<typeof sealedRow>

/** Arrival of requests: calls `request` until `isOver`, and ends when all of them are answered. */
export type Pace = (request: () => Promise<void>, isOver: () => boolean) => Promise<void>

export type Plan = {
  pace: Pace
  /** Requests that are answered between two steps. */
  between: number
  /** Accounts in addition to the active ones, so that the rotation takes a while. */
  sleepers: number
}

export type Race = { requests: number; done: Truth['done']; output: string }

/** Runs the whole change once in a database of its own. Throws if anything failed or was lost. */
export async function changeRoot(chance: Random, plan: Plan): Promise<Race> {
  const world = await start({ chain: true, gasPayers: 2, rootKeys: old, connections: 8 })
  await addSleepers(world.db, old, plan.sleepers)
  const { act, ...truth } = await openTraffic(world, chance)
  const isolates = Array.from({ length: isolatesCount }, () => world.worker({ rootKeys: old }))
  const counter = openCounter()
  const failures: string[] = []
  let isOver = false
  const request = async () => {
    const isolate = isolates[chance.between(0, isolatesCount - 1)]
    if (isolate) await act(isolate).catch((error: unknown) => failures.push(String(error)))
    counter.count()
  }
  const traffic = plan.pace(request, () => isOver)

  const output = await changeStepByStep(world, isolates, () => counter.after(plan.between))

  isOver = true
  await traffic
  expect(failures).toEqual([])
  await opensWithTheNewRoot(world, truth)
  return { requests: counter.counted(), done: truth.done, output }
}

async function changeStepByStep(
  world: TestWorld,
  isolates: Worker[],
  traffic: () => Promise<void>,
): Promise<string> {
  // A replaced isolate still completes its running requests.
  const deploy = async (roots: string) => {
    for (const place of isolates.keys()) {
      await traffic()
      isolates[place] = world.worker({ rootKeys: roots })
    }
    await traffic()
  }
  await deploy(early)
  await deploy(both)
  const { code, output } = await runRotation([], {
    SUPABASE_URL: world.db.gatewayUrl,
    SUPABASE_API_KEY: project.apiKey,
    VAULT_DATABASE_KEY: project.tokens.vault,
    VAULT_ROOT_KEYS: both,
    CUSTODY_DATABASE_KEY: project.tokens.custody,
    CUSTODY_ROOT_KEYS: both,
  })
  for (const binding of ['VAULT_ROOT_KEYS', 'CUSTODY_ROOT_KEYS']) {
    expect(output).toContain(`version 1: it may be removed from ${binding}`)
  }
  expect(code).toBe(0)
  await deploy(young)
  return output
}

/** Throws unless every key, login and mail exists unchanged and needs no other root. */
async function opensWithTheNewRoot({ db }: TestWorld, { entries, mails }: Truth): Promise<void> {
  const keys = await storedKeys(db)
  expect(keys.filter(({ wrap }) => wrap.kekVersion !== 2)).toEqual([])
  for (const key of keys) keyInHex(key, young)
  const logins = sealedRows.parse(
    await db.sql`select e.account, e.id as record, e.version, e.site, e.sealed, k.wrap
      from private.vault_entries e join private.account_keys k using (account)
     where k.purpose = 'vault'`,
  )
  expect(
    new Map(logins.map((row) => [row.record, decodeSecret(opened('vault', row)).password])),
  ).toEqual(new Map(entries.map(({ id, password }) => [id, password])))
  const heads = sealedRows.parse(
    await db.sql`select m.account, m.id || '/head' as record, 1 as version,
        coalesce(m.proven_domain, '') as site, m.sealed_head as sealed, k.wrap
      from private.mails m join private.account_keys k using (account) where k.purpose = 'mail'`,
  )
  const subjects = heads.map((row) => Buffer.from(opened('mail', row)).toString())
  expect(subjects).toHaveLength(mails.length)
  for (const { subject } of mails) {
    expect(subjects.some((head) => head.includes(subject))).toBe(true)
  }
}

function opened(purpose: 'vault' | 'mail', { sealed, wrap, ...place }: SealedRow): Uint8Array {
  return openRecord({ roots: readRoots(young, purpose), wrap }, place, sealed)
}

/** Counts events, and notifies when a given number of further ones has been counted. */
function openCounter() {
  let counted = 0
  let waiting: { from: number; tell: () => void } | undefined
  return {
    counted: () => counted,
    count() {
      counted += 1
      if (waiting && counted >= waiting.from) waiting.tell()
    },
    after: (more: number) =>
      new Promise<void>((resolve) => {
        waiting = { from: counted + more, tell: resolve }
      }),
  }
}
