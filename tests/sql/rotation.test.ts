import { beforeAll, expect, test } from 'vitest'
import { openAccount } from '../../scripts/operator/provision.ts'
import type { KeyRing } from '../../scripts/rotate-keys/key-ring.ts'
import { rotate } from '../../scripts/rotate-keys/rotate.ts'
import { type Purpose, readRoots } from '../../shared/sealing/roots.ts'
import { newAccountKey } from '../../shared/vault/envelope.ts'
import { openTestDatabase, type TestDatabase } from '../support/database.ts'
import { addSleepers, keyInHex, ringsOf, rootKeys, storedKeys } from '../support/rotation.ts'
import { randomBytes } from '../support/seed.ts'

const [old, both, young] = [rootKeys([1]), rootKeys([1, 2]), rootKeys([2])]
const accounts = 5
const random = (length: number) => new Uint8Array(randomBytes(length))
const options = { isDry: false, signal: new AbortController().signal, progress: () => {} }

let db: TestDatabase
beforeAll(async () => {
  db = await openTestDatabase()
  return () => db.close()
})

/** Creates accounts that have all three keys, freshly wrapped under the first root. */
async function wrapAnew(): Promise<void> {
  await db.sql`truncate private.account_keys, private.accounts, private.custody_keys cascade`
  for (let count = 0; count < accounts; count += 1) {
    const { id } = await openAccount(db.sql, readRoots(old, 'custody'), `rotated-${count}`)
    for (const purpose of ['vault', 'mail'] as const) {
      const wrap = newAccountKey(readRoots(old, purpose), random, id)
      await db.sql`insert into private.account_keys (account, purpose, wrap)
        values (${id}, ${purpose}, ${db.sql.json(wrap)})`
    }
  }
}

async function rotateAll(rings: KeyRing[], how = options) {
  const rotated = await Promise.all(rings.map((ring) => rotate(ring, how)))
  return {
    moved: rotated.reduce((sum, { moved }) => sum + moved, 0),
    faults: rotated.flatMap(({ faults }) => faults),
  }
}

test('a rotation keeps every key and leaves the old root without use', async () => {
  await wrapAnew()
  const before = await storedKeys(db)
  const sealed = await db.sql`select address, envelope - 'wrap' as sealed from private.custody_keys`

  const rotated = await rotateAll(ringsOf(db, both))

  const after = await storedKeys(db)
  expect(rotated).toEqual({ moved: 3 * accounts, faults: [] })
  expect(after.map((key) => keyInHex(key, young))).toEqual(before.map((key) => keyInHex(key, old)))
  expect(
    await db.sql`select address, envelope - 'wrap' as sealed from private.custody_keys`,
  ).toEqual(sealed)
  expect(await rotateAll(ringsOf(db, both))).toEqual({ moved: 0, faults: [] })
})

test('a version that does not seal yet takes over no key, and can be backed out of', async () => {
  await wrapAnew()

  const early = await rotateAll(ringsOf(db, rootKeys([1, 2], 1)))
  await rotateAll(ringsOf(db, both))
  const back = await rotateAll(ringsOf(db, rootKeys([1, 2], 1)))

  expect([early.moved, back.moved]).toEqual([0, 3 * accounts])
  expect((await storedKeys(db)).map(({ wrap }) => wrap.kekVersion)).not.toContain(2)
})

test('a dry run opens every key and stores nothing', async () => {
  await wrapAnew()
  const before = await storedKeys(db)

  const rotated = await rotateAll(ringsOf(db, both), { ...options, isDry: true })

  expect(rotated.moved).toBe(3 * accounts)
  expect(await storedKeys(db)).toEqual(before)
})

test('a wrap that another replaced meanwhile is left as it is', async () => {
  await wrapAnew()
  const [vault, ...others] = ringsOf(db, both)
  const read = await vault.list(undefined, 100)
  await rotateAll([vault, ...others])
  const moved = await storedKeys(db)

  const late = read.map(({ key, wrap }) => ({ key, was: wrap, wrap }))

  expect(await vault.rewrap(late)).toBe(0)
  expect(await storedKeys(db)).toEqual(moved)
})

test('keys of many pages are all moved, and counted', async () => {
  await wrapAnew()
  await addSleepers(db, old, 1_200)

  const { moved } = await rotateAll(ringsOf(db, both))

  expect(moved).toBe(3 * accounts + 2 * 1_200)
  expect((await storedKeys(db)).filter(({ wrap }) => wrap.kekVersion !== 2)).toEqual([])
})

test('two rotations at once move each key once', async () => {
  await wrapAnew()
  const before = await storedKeys(db)

  const rotated = await Promise.all([rotateAll(ringsOf(db, both)), rotateAll(ringsOf(db, both))])

  expect(rotated.reduce((sum, { moved }) => sum + moved, 0)).toBe(3 * accounts)
  expect((await storedKeys(db)).map((key) => keyInHex(key, young))).toEqual(
    before.map((key) => keyInHex(key, old)),
  )
})

test('a rotation that is broken off goes on with the next run', async () => {
  await wrapAnew()
  const stopping = new AbortController()
  stopping.abort()

  expect((await rotateAll(ringsOf(db, both), { ...options, signal: stopping.signal })).moved).toBe(
    0,
  )
  expect((await rotateAll(ringsOf(db, both))).moved).toBe(3 * accounts)
})

test.each<Purpose>(['vault', 'mail'])(
  'a wrap of a %s key that was put under another account or purpose is told and stays',
  async (purpose) => {
    await wrapAnew()
    const other = purpose === 'vault' ? 'mail' : 'vault'
    const stored = (await storedKeys(db)).filter((key) => key.purpose === purpose)
    const [one, two, three] = stored
    await db.sql`update private.account_keys set wrap = ${db.sql.json(two?.wrap ?? {})}
      where id = ${one?.id ?? ''}`
    await db.sql`update private.account_keys set wrap = ${db.sql.json(three?.wrap ?? {})}
      where account = ${three?.owner ?? ''} and purpose = ${other}`
    const transplanted = await storedKeys(db)

    const { moved, faults } = await rotateAll(ringsOf(db, both))

    expect(moved).toBe(3 * accounts - 2)
    expect(faults.map(({ fault }) => fault)).toEqual(['invalid tag', 'invalid tag'])
    const left = (await storedKeys(db)).filter(({ wrap }) => wrap.kekVersion === 1)
    expect(left).toHaveLength(2)
    expect(transplanted).toEqual(expect.arrayContaining(left))
  },
)

test('a key under a root that is not given is told by its version and stays', async () => {
  await wrapAnew()

  const { moved, faults } = await rotateAll(ringsOf(db, young))

  expect(moved).toBe(0)
  expect(faults).toHaveLength(3 * accounts)
  expect(faults[0]?.fault).toContain('has no root of version 1')
})

test('vault and custody rotate their own keys, and nobody else any', async () => {
  const rows = await db.sql`
    select role, p.proname as name from unnest(array['anon', 'service_role', 'vault', 'custody']) role,
      pg_proc p where p.pronamespace = 'api'::regnamespace and p.proname like 'rotation%'
      and has_function_privilege(role, p.oid, 'execute') order by 1, 2`

  expect(rows.map(({ role, name }) => `${role}: ${name}`)).toEqual([
    'custody: rotation_custody_count',
    'custody: rotation_custody_list',
    'custody: rotation_custody_rewrap',
    'vault: rotation_count',
    'vault: rotation_list',
    'vault: rotation_rewrap',
  ])
})
