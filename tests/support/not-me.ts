/** "It was not me" in the database, as an owner says it. */
import { expect } from 'vitest'
import * as z from 'zod'
import { credentialOf } from '../../shared/auth/api-key.ts'
import type { TestOwner } from './owner.ts'
import { ownerOf } from './owner.ts'
import { randomBytes, randomUUID } from './seed.ts'
import type { Agent, TestWorld } from './world.ts'
import { pepper } from './world.ts'

const day = 86_400
const list = z.tuple([
  z.object({
    counts_from: z.string(),
    until: z.string(),
    digest: z.string(),
    left_out: z.int(),
    made: z.array(z.object({ kind: z.string(), id: z.string() })),
    removed_passkeys: z.array(z.object({ id: z.string() })),
  }),
])
type Listed = z.output<typeof list>[0]

/** Creates an account whose owner set the password a day ago. */
export async function openHouse(
  world: TestWorld,
): Promise<{ agent: Agent; owner: TestOwner; account: string }> {
  const agent = await world.agent('full')
  await world.db.sql`insert into private.owners (account, email, password_hash)
    values (${agent.id}, ${`${agent.alias}@people.example`}, 'a hash')`
  await world.tick(day)
  return { agent, owner: await ownerOf(world, agent), account: agent.id }
}

/** Returns the current time, and moves the clock so that later events have a later time. */
export async function timeNow(world: TestWorld): Promise<string> {
  const [row] = await world.db.sql`select private.clock()::text as at`
  await world.tick(1)
  return String(row?.['at'])
}

export async function listSince(owner: TestOwner, since: string): Promise<Listed> {
  return list.parse(await owner.call('owner_list_made', { since }))[0]
}

/** Ends what the page showed. */
export async function endShown(owner: TestOwner, shown: Listed, put_back: string[] = []) {
  const session_digest = randomBytes(32).toString('hex')
  const { counts_from: since, until, digest } = shown
  const given = { session_digest, password_hash: 'another hash', put_back }
  const ended = await owner.call('owner_end_made', { since, until, digest, ...given })
  expect(ended).toMatchObject([{ outcome: 'ended' }])
  owner.credential = session_digest
}

export async function endSince(owner: TestOwner, since: string, put_back: string[] = []) {
  await endShown(owner, await listSince(owner, since), put_back)
}

export async function keyIdOf({ db }: TestWorld, { key }: Agent): Promise<string> {
  const digest = await credentialOf(key, pepper)
  const [row] = await db.sql`select id from private.credentials where digest = ${digest}`
  return String(row?.['id'])
}

/** Stores a login that is sealed elsewhere, with a key or in a session, and returns its id. */
export async function storeLogin(
  { db }: TestWorld,
  credential: string,
  site: string,
  entry?: string,
): Promise<string> {
  const id = entry ?? randomUUID()
  const version = entry === undefined ? 0 : 1
  await db.sql`select from api.vault_commit_store(${credential}, ${id}, ${version}, ${site}, 'me',
    '{}', true, false, '{}', 'credential_stored')`
  return id
}

/** Creates a grant to an app of the account, which shares the budget of a first grant if one is named. */
export async function openGrant(
  { db }: TestWorld,
  account: string,
  { scope, first = null }: { scope: 'pay' | 'vault'; first?: string | null },
): Promise<string> {
  const [row] = await db.sql`
    with granted as (
      insert into private.credentials
        (account, kind, label, shown, scopes, expires_at, shares_budget_of)
      values (${account}, 'oauth', 'App', 'app.example', array[${scope}],
        private.clock() + interval '90 days', ${first}) returning id)
    insert into private.oauth_grants (credential, client_id, redirect_host)
    select id, 'app', 'app.example' from granted returning credential`
  return String(row?.['credential'])
}
