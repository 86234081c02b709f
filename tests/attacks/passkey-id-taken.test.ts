/** A removed passkey cannot be taken back once another account has registered its id. */
import { randomBytes } from 'node:crypto'
import { beforeAll, expect, test } from 'vitest'
import * as z from 'zod'
import { ownerOf } from '../support/owner.ts'
import type { TestWorld } from '../support/world.ts'
import { start } from '../support/world.ts'
let world: TestWorld
beforeAll(async () => { world = await start() })
const hex = () => randomBytes(32).toString('hex')
async function house() {
  const agent = await world.agent('full')
  await world.db.sql`insert into private.owners (account, email, password_hash) values (${agent.id}, ${`${agent.alias}@people.example`}, 'a hash')`
  return { agent, owner: await ownerOf(world, agent) }
}
test('taken back', async () => {
  const { agent } = await house()
  const put = (id: string) => world.db.sql`insert into private.passkeys (id, account, public_key, counter, transports, label, is_first, created_at)
    values (${id}, ${agent.id}, 'x', 0, '{}', 'mine', true, private.clock() - interval '30 days')`
  await put('mine'); await put('second')
  await world.tick(5)
  const since = String((await world.db.sql`select private.clock()::text as at`)[0]?.['at'])
  const thief = await ownerOf(world, agent)
  await world.db.sql`update private.sessions set proven_by = 'second' where credential = (select id from private.credentials where digest = ${thief.credential})`
  expect(await thief.call('owner_remove_passkey', { passkey: 'mine' })).toEqual([{ outcome: 'removed' }])
  const theirs = await house()
  console.log(JSON.stringify(await theirs.owner.call('owner_add_passkey', { passkey: 'mine', public_key: 'y', counter: '0', transports: [], label: 'Key' })))
  const owner = await ownerOf(world, agent)
  await world.db.sql`update private.sessions set proven_by = 'second' where credential = (select id from private.credentials where digest = ${owner.credential})`
  const [shown] = z.tuple([z.object({ counts_from: z.string(), until: z.string(), digest: z.string() })]).parse(await owner.call('owner_list_made', { since }))
  const ended = await owner.call('owner_end_made', { since: shown.counts_from, until: shown.until, digest: shown.digest, session_digest: hex(), password_hash: 'n', put_back: ['mine'] })
  expect(ended).toMatchObject([{ outcome: 'ended' }])
  expect(await world.db.sql`select id from private.passkeys where account = ${agent.id} order by 1`).toHaveLength(2)
})
test.each([2000, 5000, 10000, 20000])('%s recipients', async (many) => {
  const { agent, owner } = await house()
  const since = String((await world.db.sql`select private.clock()::text as at`)[0]?.['at'])
  await world.tick(5)
  await world.db.sql`insert into private.known_recipients (account, chain_family, address, session)
    select ${agent.id}, 'evm', '0x' || lpad(to_hex(n), 40, '0'), (select id from private.credentials where digest = ${owner.credential}) from generate_series(1, ${many}::integer) n`
  const t = Date.now()
  const answer = await owner.call('owner_list_made', { since })
  console.log(many, 'ms', Date.now() - t, JSON.stringify(answer).length)
  expect(Array.isArray(answer)).toBe(true)
})
