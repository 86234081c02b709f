/** Steps that people take on the pages and that several tests share. */
import type { Page } from 'playwright-core'
import { randomBytes } from '../seed.ts'

export type Person = { email: string; password: string; alias: string }

/** Returns a new person with a random alias and password. */
export function anybody(): Person {
  const name = `p-${randomBytes(6).toString('hex')}`
  const password = `four quiet words ${randomBytes(6).toString('hex')}`
  return { email: `${name}@example.com`, password, alias: name }
}

/** Fills in the registration page and returns the API key that is shown after it. */
export async function openAccount(page: Page, { alias, password }: Person): Promise<string> {
  await page.getByLabel('Alias').fill(alias)
  await page.getByLabel('Password', { exact: true }).fill(password)
  await press(page, 'Agree and open the account')
  await page.getByRole('heading', { name: 'Your account is open' }).waitFor()
  return keyShownOn(page)
}

/** Returns the API key that a page shows once. */
export async function keyShownOn(page: Page): Promise<string> {
  const [key] = /aoa_(live|test)_\w{36}/.exec(await page.locator('pre').first().innerText()) ?? []
  if (key === undefined) throw new Error(`no key on ${page.url()}`)
  return key
}

export async function press(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name, exact: true }).click()
}

/** Ends the session of this browser. */
export async function signOut(page: Page, webUrl: string): Promise<void> {
  await page.goto(`${webUrl}/security`)
  await press(page, 'Sign out')
  await page.waitForURL(`${webUrl}/login`)
}
