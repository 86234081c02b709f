/** "It was not me" takes nothing from honest keys, and no thief keeps the owner from it. */
import { beforeAll, describe, expect, test } from 'vitest'
import { credentialOf } from '../../shared/auth/api-key.ts'
import {
  endShown,
  endSince,
  keyIdOf,
  listSince,
  openGrant,
  openHouse,
  storeLogin,
  timeNow,
} from '../support/not-me.ts'
import { ownerOf } from '../support/owner.ts'
import { randomBytes } from '../support/seed.ts'
import type { TestWorld } from '../support/world.ts'
import { pepper, start } from '../support/world.ts'

const site = 'https://shop.example'
const digest = () => randomBytes(32).toString('hex')

let world: TestWorld
beforeAll(async () => {
  world = await start()
})

/** Returns an account with a login that its honest key has stored since, and a thief with access. */
async function houseWithLogin() {
  const { agent, owner, account } = await openHouse(world)
  const credential = await credentialOf(agent.key, pepper)
  const before = await storeLogin(world, credential, 'https://before.example')
  const since = await timeNow(world)
  const login = await storeLogin(world, credential, site)
  const thief = await ownerOf(world, agent)
  return { agent, owner, account, thief, before, since, login, key: await keyIdOf(world, agent) }
}

const idsSince = async (...of: Parameters<typeof listSince>) =>
  (await listSince(...of)).made.map(({ id }) => id)

async function addPasskey(account: string, id: string, daysAgo: number) {
  await world.db.sql`insert into private.passkeys
      (id, account, public_key, counter, transports, label, is_first, created_at)
    values (${id}, ${account}, 'x', 0, '{}', 'Mine', true,
      private.clock() - make_interval(days => ${daysAgo}))`
}

describe('a login that an honest key made since', () => {
  test('stays where somebody else revoked that key', async () => {
    const { owner, thief, since, login, key } = await houseWithLogin()
    await thief.call('owner_revoke_key', { key })

    expect(await idsSince(owner, since)).not.toContain(login)
  })

  test.each([
    ['goes where the owner revoked that key before, with a passkey from before that', 3, true],
    ['stays where somebody did with a passkey that was added since', -1, false],
  ])('%s', async (_, daysAgo, isGone) => {
    const { agent, account, since, login, key } = await houseWithLogin()
    await world.tick(2 * 86_400)
    const passkey = digest()
    await addPasskey(account, passkey, daysAgo + 2)
    const [earlier, later] = [await ownerOf(world, agent), await ownerOf(world, agent)]
    const proven = isGone ? [earlier, later] : [earlier]
    await world.db.sql`update private.sessions s set proven_by = ${passkey}
      from private.credentials k where k.id = s.credential
       and k.digest = any (${proven.map(({ credential }) => credential)})`
    await earlier.call('owner_revoke_key', { key })

    expect((await idsSince(later, since)).includes(login)).toBe(isGone)
  })

  test('stays where somebody else replaced that key, whatever becomes of the new one', async () => {
    const { owner, thief, since, login, key } = await houseWithLogin()
    const made = { digest: digest(), shown: 'aoa_test_x', expires_in_days: 30, overlap_hours: 24 }
    await thief.call('owner_rotate_key', { key, ...made })

    await endSince(owner, since)

    const { sql } = world.db
    expect(await sql`select from private.vault_entries where id = ${login}`).toHaveLength(1)
  })

  test('stays where the owner corrected it in the same session, and goes where another did', async () => {
    const { owner, thief, since, login } = await houseWithLogin()

    await storeLogin(world, owner.credential, site, login)
    expect(await idsSince(owner, since)).not.toContain(login)
    expect(await idsSince(thief, since)).toContain(login)
  })
})

test('a login of an app that was let in anew is one of an app that the owner disconnected', async () => {
  const { agent, owner, account } = await openHouse(world)
  const first = await openGrant(world, account, { scope: 'vault' })
  const since = await timeNow(world)
  const login = await storeLogin(world, await credentialOf(agent.key, pepper), site)
  await world.db.sql`update private.vault_entries set maker = ${first} where id = ${login}`
  await world.db.sql`select private.end_grant(${first}, 'replaced')`
  const second = await openGrant(world, account, { scope: 'vault', first })
  const before = await idsSince(owner, since)
  await owner.call('owner_disconnect_apps', { app: second })

  expect([before.includes(login), (await idsSince(owner, since)).includes(login)]).toEqual([
    false,
    true,
  ])
})

test('a login that somebody changed since takes codes of mails no more than before', async () => {
  const { owner, thief, since, before } = await houseWithLogin()
  await storeLogin(world, thief.credential, 'https://before.example', before)

  await endSince(owner, since)

  const [row] = await world.db.sql`
    select takes_codes from private.vault_entries where id = ${before}`
  expect(row).toEqual({ takes_codes: false })
})

describe('who keeps changing what the owner looks at', () => {
  test('ends nothing of it: a passkey that has another name and a login that is gone', async () => {
    const { agent, owner, thief, account, since } = await houseWithLogin()
    await addPasskey(account, `of-${agent.alias}`, 0)
    const theirs = await credentialOf((await agent.withKey('vault')).key, pepper)
    const entry = await storeLogin(world, theirs, 'https://theirs.example')
    await world.tick(1)
    const shown = await listSince(owner, since)

    await thief.call('owner_rename_passkey', { passkey: `of-${agent.alias}`, label: 'Another' })
    await world.db.sql`select from api.delete_vault_entry(${theirs}, ${entry})`
    await endShown(owner, shown)

    expect(await world.db.sql`select from private.passkeys where account = ${account}`).toEqual([])
  })

  test('or makes very many things: the first are shown with the number of all, and all end', async () => {
    const { owner, thief, account, since } = await houseWithLogin()
    const { sql } = world.db
    await sql`insert into private.widenings (account, kind, subject, before, summary)
      select ${account}, 'limit', 'automatic_daily', '{"micros": "200000000"}', 'A limit: raised'
        from generate_series(1, 12000)`
    await sql`insert into private.known_recipients (account, chain_family, address, session)
      select ${account}, 'evm', '0x' || lpad(to_hex(n), 40, '0'), k.id
        from generate_series(1, 8000) n, private.credentials k where k.digest = ${thief.credential}`
    await world.tick(1)

    const shown = await listSince(owner, since)
    await endShown(owner, shown)

    expect([shown.made.length, shown.left_out]).toEqual([500, 7_501])
    expect(await sql`select from private.widenings where account = ${account}`).toHaveLength(0)
    expect(await sql`select from private.known_recipients where account = ${account}`).toEqual([])
  })
})

describe('a passkey', () => {
  test('that was given up for lost, and replaced by a password, can be taken back', async () => {
    const { agent, account } = await openHouse(world)
    const id = `lost-${agent.alias}`
    await addPasskey(account, id, 30)
    const since = await timeNow(world)
    await world.db.sql`update private.owners
       set passkeys_lost_at = private.clock() - interval '73 hours' where account = ${account}`
    const thief = await ownerOf(world, agent, 60)
    await thief.call('owner_prove', { password_hash: 'a hash', session_digest: digest() })
    const owner = await ownerOf(world, agent)

    const { removed_passkeys: removed } = await listSince(owner, since)
    await endSince(owner, since, [id])

    expect(removed).toEqual([{ id }])
    const { sql } = world.db
    expect(await sql`select id from private.passkeys where account = ${account}`).toEqual([{ id }])
  })

  test('that can be taken back is registered in no other account', async () => {
    const [{ agent, account }, other] = [await openHouse(world), await openHouse(world)]
    const id = `taken-${agent.alias}`
    await addPasskey(account, id, 30)
    await world.db.sql`with removed as (
        delete from private.passkeys where id = ${id} returning *)
      insert into private.removed_passkeys select * from removed`

    const register = { passkey: id, public_key: 'y', counter: '0', transports: [], label: 'Theirs' }

    expect(await other.owner.call('owner_add_passkey', register)).toEqual([])
  })
})
