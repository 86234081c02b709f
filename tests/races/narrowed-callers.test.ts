/** Calls that wait for the account do nothing that the owner takes back meanwhile. */
import postgres from 'postgres'
import { beforeAll, expect, test } from 'vitest'
import { credentialOf } from '../../shared/auth/api-key.ts'
import { atEnd } from '../support/ending.ts'
import { keyIdOf, openHouse, secure } from '../support/house.ts'
import { entryOf } from '../support/vault-rows.ts'
import { fingerprint, pepper, start, type TestWorld } from '../support/world.ts'

let world: TestWorld
let late: postgres.Sql
beforeAll(async () => {
  world = await start()
  late = postgres(world.db.url, { max: 1, onnotice() {} })
  atEnd(() => late.end({ timeout: 1 }))
})

async function openShop() {
  const house = await openHouse(world)
  // The first call of an hour notes when the key was used, and holds the key for that.
  await house.agent.get('/get-identity')
  const entry = await entryOf(world, house.agent, { site: 'https://shop.example', password: 'my' })
  return { ...house, entry, credential: await credentialOf(house.agent.key, pepper) }
}

/** Returns the answer to a call that waited for an account, or for the end of a key, while this was done. */
async function besideWaiting(
  hold: (session: postgres.TransactionSql) => PromiseLike<unknown>,
  ask: () => PromiseLike<unknown>,
  meanwhile: () => Promise<unknown> = () => Promise.resolve(),
): Promise<unknown> {
  let answer: Promise<unknown> = Promise.resolve()
  await world.db.sql.begin(async (session) => {
    await hold(session)
    answer = Promise.resolve(ask()).catch(String)
    const waiting = () => world.db.sql`select from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`
    await expect.poll(async () => (await waiting()).length).toBe(1)
    await meanwhile()
  })
  return answer
}

test('a key that may not read any more opens nothing', async () => {
  const { agent, owner, account, entry, credential } = await openShop()
  const key = await keyIdOf(world, agent)
  await owner.call('owner_set_reads_secrets', { key, reads: true })

  const answer = await besideWaiting(
    (session) => session`select private.hold_account(${account})`,
    () => late`select opened from api.vault_read_entry(${credential}, ${entry})`,
    () => owner.call('owner_set_reads_secrets', { key, reads: false }),
  )

  expect(answer).toMatchObject([{ opened: null }])
})

test('no code goes to a login that takes none any more', async () => {
  const { owner, account, entry, credential } = await openShop()
  const [mail, handle] = ['00000000-0000-4000-8000-000000000001', 'c_aaaaaaaaaaaa']
  await world.db.sql`
    insert into private.mails (id, account, direction, from_address, proven_domain, digest, size, room,
      sealed_head, sealed_body)
    values (${mail}, ${account}, 'in', 'a@shop.example', 'shop.example', ${'a'.repeat(64)}, 10, 10,
      '{}', '{}')`
  await world.db.sql`
    insert into private.mail_codes (account, handle, mail, kind, hosts, sealed, expires_at)
    values (${account}, ${handle}, ${mail}, 'code', '{shop.example}', '{}',
      private.clock() + interval '10 minutes')`
  await world.db.sql`update private.vault_entries set takes_codes = true where id = ${entry}`

  const answer = await besideWaiting(
    (session) => session`select private.hold_account(${account})`,
    () => late`select api.vault_begin_use(${credential}, ${entry}, ${[handle]}, '{}', 'POST /')`,
    () => owner.call('owner_set_takes_codes', { entry, takes: false }),
  )

  expect(answer).toMatch(/^PostgresError: /)
})

test('a session stores and deletes no login once a hold began', async () => {
  const { owner, account, entry } = await openShop()
  const beginHold = () => world.db.sql`select private.begin_hold(${account})`

  const answer = await besideWaiting(
    (session) => session`select private.hold_account(${account})`,
    () => late`select api.delete_vault_entry(${owner.credential}, ${entry})`,
    async () => beginHold(),
  )

  expect(answer).toMatch(/^PostgresError: /)
  expect(await world.db.sql`select from private.vault_entries where id = ${entry}`).toHaveLength(1)
})

test('a key that is revoked enters no payment', async () => {
  const { agent, owner, credential } = await openShop()
  const key = await keyIdOf(world, agent)
  const payee = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'

  const answer = await besideWaiting(
    (session) => session`select api.owner_revoke_key(${owner.credential}, ${key})`,
    () => late`select from api.begin_payment(${credential}, 'transfer', ${fingerprint}, 84532,
      '0x036CbD53842c5426634e7929541eC2318f3dCF7e', '1000', '1000', '{}', 60, ${payee})`,
  )

  expect(answer).toBe('PostgresError: unauthorized')
})

test('securing the account makes no proof newer', async () => {
  const { owner } = await openShop()
  const proof = () => world.db.sql`
    select s.proven_at from private.sessions s join private.credentials k on k.id = s.credential
     where k.digest = ${owner.credential}`
  const before = await proof()
  await world.tick(60)

  await secure(owner)

  expect(await proof()).toEqual(before)
})
