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

/** Lets this scope's key of the account read secrets, or no longer. */
export async function letRead(tests: TestWorld, agent: Agent, scope: string, reads = true) {
  const owner = await ownerOf(tests, agent)
  const [key] = await tests.db.sql`
    select id from private.credentials where account = ${agent.id} and label = ${scope}`
  return owner.call('owner_set_reads_secrets', { key: key?.['id'], reads })
}

/** Gives the account an owner with a mail address; answers the subjects of what it is told. */
export async function owned({ db, mails }: TestWorld, { id }: Agent) {
  const email = `${randomBytes(6).toString('hex')}@people.example`
  await db.sql`insert into private.owners (account, email) values (${id}, ${email})`
  return async () => (await mails(email)).map(({ subject }) => subject)
}

/** The types of the account's feed that concern its vault, oldest first. */
export async function vaultFeedOf({ db }: TestWorld, { id }: Agent): Promise<string[]> {
  const items = await db.sql<{ type: string }[]>`
    select type from private.activities where account = ${id} and category = 'vault' order by id`
  return items.map(({ type }) => type)
}
