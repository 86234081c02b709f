/** Ways into an account through the pages, by what somebody holds. */
import { type Authenticator, optionsOf } from './authenticator.ts'
import { type Browser, openBrowser, ownForm } from './browserless.ts'
import type { Person } from './person.ts'
import type { TestWorld } from './world.ts'

/** Returns a browser that signed in with a passkey, or tried to. */
export async function byPasskey(world: TestWorld, held: Authenticator): Promise<Browser> {
  const browser = openBrowser(world)
  await browser.visit('/web/login')
  const options = await optionsOf(browser, '/web/login/passkey')
  await browser.submit({ answer: held.get(options) }, '/web/login/passkey')
  return browser
}

/** Returns a browser that signed in with a recovery code, or tried to. */
export async function byCode(world: TestWorld, { email }: Person, code = ''): Promise<Browser> {
  const browser = openBrowser(world)
  await browser.visit('/web/login/recovery')
  await browser.submit({ email, code })
  return browser
}

/** Makes recovery codes in a session with a fresh proof. */
export async function makeCodes(browser: Browser): Promise<string[]> {
  await browser.visit('/web/security/recovery-codes')
  const { text } = await browser.submit()
  return codesIn(text)
}

/** Returns the recovery codes that a page shows. */
export function codesIn(text: string): string[] {
  return [...new Set(text.match(/\b[0-9a-z]{4}(-[0-9a-z]{4}){3}\b/g))]
}

/** Returns true if a browser reaches the owner's pages. */
export async function isIn(browser: Browser): Promise<boolean> {
  return (await browser.visit('/web/security')).path === '/web/security'
}

/** Returns true if a browser reaches the page for passkeys, which takes a fresh proof. */
export async function mayWiden(browser: Browser): Promise<boolean> {
  return (await browser.visit('/web/security/passkeys')).path === '/web/security/passkeys'
}

/** Sends a form that the browser was not shown. */
export function post(browser: Browser, path: string, fields: Record<string, string>) {
  const body = new URLSearchParams({ ...fields, form: ownForm(browser) }).toString()
  const headers = {
    origin: 'http://localhost',
    'content-type': 'application/x-www-form-urlencoded',
  }
  return browser.send(path, { method: 'POST', body, headers })
}
