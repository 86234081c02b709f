/** Accounts with an owner, and what the owner does in the database. */
import { expect } from 'vitest'
import { credentialOf } from '../../shared/auth/api-key.ts'
import { ownerOf, type TestOwner } from './owner.ts'
import { randomBytes } from './seed.ts'
import { type Agent, pepper, type TestWorld } from './world.ts'

const day = 86_400
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

/** Secures the account in the session of its owner, which goes on. */
export async function secure(owner: TestOwner): Promise<unknown> {
  const session_digest = randomBytes(32).toString('hex')
  const secured = await owner.call('owner_secure', {
    session_digest,
    password_hash: 'another hash',
  })
  expect(secured).toHaveLength(1)
  owner.credential = session_digest
  return secured
}

export async function keyIdOf({ db }: TestWorld, { key }: Agent): Promise<string> {
  const digest = await credentialOf(key, pepper)
  const [row] = await db.sql`select id from private.credentials where digest = ${digest}`
  return String(row?.['id'])
}
