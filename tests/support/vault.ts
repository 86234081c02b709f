/** Logins of agents in the vault, and what their owners allow with them. */
import { randomBytes } from 'node:crypto'
import { ownerOf } from './owner.ts'
import type { Agent, TestWorld } from './world.ts'

export const site = 'https://shop.example.com'
/** A TOTP secret in base32. */
export const seed = 'JBSWY3DPEHPK3PXP'

/** Keeps a login by the operation; answers its id. */
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

/** The id of the account's key of this scope. */
export async function keyIdOf({ db }: TestWorld, { id }: Agent, scope: string): Promise<string> {
  const [key] = await db.sql<{ id: string }[]>`
    select id from private.credentials where account = ${id} and label = ${scope}`
  if (!key) throw new Error('no such key')
  return key.id
}

/** Gives the account an owner with a mail address; answers the subjects of what it is told. */
export async function owned(tests: TestWorld, { id }: Agent) {
  const email = `${randomBytes(6).toString('hex')}@people.example`
  await tests.db.sql`insert into private.owners (account, email) values (${id}, ${email})`
  return async () => (await tests.mails(email)).map(({ subject }) => subject)
}

/** The types of the account's feed that concern its vault, oldest first. */
export async function vaultFeedOf({ db }: TestWorld, { id }: Agent): Promise<string[]> {
  const items = await db.sql<{ type: string }[]>`
    select type from private.activities where account = ${id} and category = 'vault' order by id`
  return items.map(({ type }) => type)
}
