/** The person behind an account, who signs in on the pages. */
import { hashPassword } from '../../shared/auth/password.ts'
import { type Authenticator, openAuthenticator, optionsOf } from './authenticator.ts'
import { type Browser, openBrowser, signedIn } from './browserless.ts'
import type { Agent, TestWorld } from './world.ts'

export type Person = { agent: Agent; email: string; password: string }

const password = 'a long sentence of mine'
/** Everyone here has the same password, because a hash is expensive. */
let hash: string | undefined

export async function openPerson(tests: TestWorld, usdc = 0): Promise<Person> {
  const agent = await tests.agent('full', { usdc })
  const email = `${agent.alias}@people.example`
  hash ??= hashPassword(tests.world, password)
  await tests.db.sql`insert into private.owners (account, email, password_hash)
    values (${agent.id}, ${email}, ${hash})`
  return { agent, email, password }
}

export async function signInAs(tests: TestWorld, { email, password }: Person): Promise<Browser> {
  const browser = openBrowser(tests)
  await browser.visit('/web/login')
  await browser.submit({ email, password }, '/web/login')
  if (!browser.cookies.has('__Host-aoa_session')) throw new Error('the person is not let in')
  return browser
}

/** Makes a key on its page. Returns a call with it, which tells the status of the answer. */
export async function makeKey(
  tests: TestWorld,
  browser: Browser,
  label: string,
): Promise<() => Promise<number>> {
  await browser.visit('/web/keys')
  const { html } = await browser.submit({ label, scope: 'full', days: '30' })
  const [key = ''] = /aoa_test_[0-9A-Za-z_-]+/.exec(html) ?? []
  const headers = { authorization: `Bearer ${key}` }
  return async () => (await tests.send('/get-identity', { headers })).status
}

/** Adds a passkey on its page. */
export async function addPasskey(browser: Browser): Promise<Authenticator> {
  const passkey = openAuthenticator()
  const path = '/web/security/passkeys'
  await browser.visit(path)
  const options = await optionsOf(browser, path)
  await browser.submit({ deed: 'add', label: 'My key', answer: passkey.create(options) }, path)
  return passkey
}

/** Creates a new person with a signed-in browser. */
export async function openPersonAtHome(
  world: TestWorld,
): Promise<{ person: Person; browser: Browser }> {
  const person = await openPerson(world)
  return { person, browser: await signedIn(world, person.agent) }
}
