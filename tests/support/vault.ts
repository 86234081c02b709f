/** Logins of agents in the vault, and what their owners allow with them. */
import { ownerOf } from './owner.ts'
import { randomBytes } from './seed.ts'
import type { Agent, TestWorld } from './world.ts'

export const site = 'https://shop.example.com'
/** A TOTP secret in base32. */
export const seed = 'JBSWY3DPEHPK3PXP'

/** Stores a login with the operation and returns its id. */
export async function loginOf(agent: Agent, given: object = {}): Promise<string> {
  const login = { site, username: 'me', password: 'a password of mine', ...given }
  const { status, body } = await agent.post('/vault-store', login)
  if (status !== 200) throw new Error(JSON.stringify(body))
  return String(body['credential_id'])
}

/** Lets the account's key of this scope read secrets. */
export async function letRead(tests: TestWorld, agent: Agent, scope: string) {
  const owner = await ownerOf(tests, agent)
  const key = await keyIdOf(tests, agent, scope)
  await owner.call('owner_set_reads_secrets', { key, reads: true })
}

/** Returns the id of the account's key of this scope. */
export async function keyIdOf({ db }: TestWorld, { id }: Agent, scope: string): Promise<string> {
  const [key] = await db.sql<{ id: string }[]>`
    select id from private.credentials where account = ${id} and label = ${scope}`
  if (!key) throw new Error('no such key')
  return key.id
}

/**
 * Gives the account an owner with a mail address, and returns a function for the subjects of the owner's
 * mails.
 */
export async function owned(tests: TestWorld, { id }: Agent) {
  const email = `${randomBytes(6).toString('hex')}@people.example`
  await tests.db.sql`insert into private.owners (account, email) values (${id}, ${email})`
  return async () => (await tests.mails(email)).map(({ subject }) => subject)
}

/** Returns the types of the account's vault entries in the feed, oldest first. */
export async function vaultFeedOf({ db }: TestWorld, { id }: Agent): Promise<string[]> {
  const items = await db.sql<{ type: string }[]>`
    select type from private.activities where account = ${id} and category = 'vault' order by id`
  return items.map(({ type }) => type)
}
