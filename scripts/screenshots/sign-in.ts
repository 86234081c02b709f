/** Signs in through the form, as a person does. */
import type { Page } from 'playwright-core'

/** Address of the app and the owner who signs in. */
export type SignIn = { web_url: string; owner: { email: string; password: string } }

/** Fills in the form and waits for the first page. */
export async function signInAs(page: Page, { web_url, owner }: SignIn): Promise<void> {
  await page.goto(`${web_url}/login`)
  await page.getByLabel('Mail address').fill(owner.email)
  await page.getByLabel('Password').fill(owner.password)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.waitForURL(web_url)
}
