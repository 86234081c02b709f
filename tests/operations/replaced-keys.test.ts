/** A key or app that took the place of another stands for it: what ends with the one ends with the other. */
import { randomBytes, randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { credentialOf } from '../../shared/auth/api-key.ts'
import { endSince, keyIdOf, openGrant, openHouse, timeNow } from '../support/not-me.ts'
import type { TestOwner } from '../support/owner.ts'
import { askPlace, entryOf } from '../support/vault-rows.ts'
import type { TestWorld } from '../support/world.ts'
import { pepper, start } from '../support/world.ts'

const digest = () => randomBytes(32).toString('hex')

let world: TestWorld
beforeAll(async () => {
  world = await start()
})

/** Replaces a key, which ends at once or so many hours later; answers the new one. */
async function replace(owner: TestOwner, key: string, overlap_hours = 0): Promise<string> {
  const made = { digest: digest(), shown: 'aoa_test_x', expires_in_days: 30, overlap_hours }
  const answer = await owner.call('owner_rotate_key', { key, ...made })
  return Array.isArray(answer) ? String(answer[0]?.['placed']) : 'none'
}

describe('a key that was replaced', () => {
  test('freezes for three days yet, and does nothing else', async () => {
    const { agent, owner } = await openHouse(world)
    await replace(owner, await keyIdOf(world, agent))
    await world.tick(71 * 3_600)

    expect((await agent.get('/get-identity')).status).toBe(401)
    expect((await agent.post('/account-freeze', {})).status).toBe(200)
    await world.tick(2 * 3_600)
    expect((await agent.post('/account-freeze', {})).status).toBe(401)
  })

  test('freezes as long where it is replaced or revoked again', async () => {
    const { agent, owner } = await openHouse(world)
    const [twice, revoked] = [await agent.withKey('read'), await agent.withKey('read')]
    for (const one of [twice, revoked]) await replace(owner, await keyIdOf(world, one), 1)
    await replace(owner, await keyIdOf(world, twice))
    await owner.call('owner_revoke_key', { key: await keyIdOf(world, revoked) })
    await world.tick(71 * 3_600)

    expect((await twice.post('/account-freeze', {})).status).toBe(200)
    expect((await revoked.post('/account-freeze', {})).status).toBe(200)
    await world.tick(2 * 3_600)
    expect((await revoked.post('/account-freeze', {})).status).toBe(401)
  })

  test('freezes no longer than it was good for, and not where it was made since', async () => {
    const { agent, owner } = await openHouse(world)
    const short = await agent.withKey('read')
    await world.db.sql`update private.credentials
       set expires_at = private.clock() + interval '1 hour'
     where id = ${await keyIdOf(world, short)}`
    const since = await timeNow(world)
    const theirs = await agent.withKey('read')
    for (const one of [short, theirs]) await replace(owner, await keyIdOf(world, one))
    await world.tick(60)

    await endSince(owner, since)

    expect((await theirs.post('/account-freeze', {})).status).toBe(401)
    expect((await short.post('/account-freeze', {})).status).toBe(200)
    await world.tick(3_600)
    expect((await short.post('/account-freeze', {})).status).toBe(401)
  })
})

describe('revoking a key that took the place of another', () => {
  test('takes back the places of secrets that the first one asked for', async () => {
    const { agent, owner, account } = await openHouse(world)
    const entry = await entryOf(world, agent, { site: 'https://shop.example', password: 'mine' })
    await askPlace(world, await credentialOf(agent.key, pepper), entry, '/of-the-first')

    await owner.call('owner_revoke_key', {
      key: await replace(owner, await keyIdOf(world, agent)),
    })

    const { sql } = world.db
    expect(await sql`select from private.vault_places where account = ${account}`).toHaveLength(0)
  })

  test('lists whom requests of the first one made known, and forgets them', async () => {
    const { agent, owner, account } = await openHouse(world)
    const first = await keyIdOf(world, agent)
    const { sql } = world.db
    await sql`
      with given as (
        insert into private.consents (account, session, level, digest, asked_at)
        select account, id, 'user_session', ${digest()}, private.clock()
          from private.credentials where digest = ${owner.credential} returning id, session)
      insert into private.known_recipients
        (account, chain_family, address, session, consent, asked_by)
      select ${account}, 'evm', ${(await world.agent('read')).address}, session, id, ${first}
        from given`
    const key = await replace(owner, first)
    await owner.call('owner_revoke_key', { key })

    const listed = await owner.call('owner_list_recipients', { listed_max: 9, asked_by: key })
    const forgotten = await owner.call('owner_forget_known_by', { key })

    expect([listed, forgotten]).toEqual([expect.any(Array), [{ forgotten: 1 }]])
    expect(listed).toHaveLength(1)
  })
})

/** A letter that an app had sent, and that waits. */
async function letterOf(account: string, app: string): Promise<string> {
  const [mail, letter] = [randomUUID(), randomUUID()]
  const { sql } = world.db
  await sql`insert into private.mails (id, account, direction, from_address, digest, size, room,
      sealed_head, sealed_body)
    values (${mail}, ${account}, 'out', 'me@agents.example', ${digest()}, 1, 1, '{}', '{}')`
  await sql`insert into private.outbox (id, account, to_address, topic, carries, sent_by, sealed)
    values (${letter}, ${account}, 'friend@people.example', 'agent_mail', ${mail}, ${app}, 'x')`
  return letter
}

test('mails of an app that was let in anew leave, and none once it was disconnected', async () => {
  const { owner, account } = await openHouse(world)
  const first = await openGrant(world, account, { scope: 'pay' })
  const letter = await letterOf(account, first)
  await world.db.sql`select private.end_grant(${first}, 'replaced')`
  const app = await openGrant(world, account, { scope: 'pay', first })
  const waits = async () => {
    await world.db.sql`select private.drop_letters()`
    const [row] = await world.db.sql`
      select sealed is not null as waits from private.outbox where id = ${letter}`
    return row?.['waits'] === true
  }

  const before = await waits()
  await owner.call('owner_disconnect_apps', { app })

  expect([before, await waits()]).toEqual([true, false])
})
