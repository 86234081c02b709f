/** A person enters a login by an agent's link, and an owner keeps one of their own in the vault. */
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { openAgent } from '../../scripts/screenshots/stage.ts'
import { openScene } from '../support/browser/browser.ts'
import { barriersOn } from '../support/browser/sight.ts'
import { randomBytes } from '../support/seed.ts'

const scene = await openScene()
const { facts } = scene
const agent = openAgent(facts.base_url, facts.api_keys.full)
const linkSchema = z.object({ url: z.url(), action_id: z.uuid() })
const statusSchema = z.object({
  status: z.string(),
  result: z.record(z.string(), z.unknown()).optional(),
})

/** Returns a text to type that occurs nowhere else. */
const secret = () => `canary ${randomBytes(12).toString('hex')}`
const siteOf = (name: string) => `https://${name}-${randomBytes(4).toString('hex')}.example.com`

/** Records the whole content of a page and the URLs that the browser requested on the way to it. */
function record(page: Page) {
  const asked: string[] = []
  page.on('request', (request) => asked.push(request.url()))
  return async () => `${page.url()}\n${asked.join('\n')}\n${await page.content()}`
}

test('website_login: the owner types a login, the agent gets its id and signs in with it', async () => {
  const [site, password] = [siteOf('shop'), secret()]
  const order = { action_type: 'website_login', site, username: 'ada' }
  const link = await agent('/create-hosted-action', order, linkSchema)
  const status = () =>
    agent(`/hosted-action-status?action_id=${link.action_id}`, undefined, statusSchema)
  const { page: elsewhere } = await scene.stranger()
  await elsewhere.goto(link.url)
  await elsewhere.getByRole('link', { name: 'Sign in' }).waitFor()
  expect(await barriersOn(elsewhere)).toEqual([])
  const { page } = await scene.owner()
  const seen = record(page)
  await page.goto(link.url)
  expect(await barriersOn(page)).toEqual([])
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByLabel('Password at the site').fill(password)
  await page.getByLabel('Secret of the authenticator app').fill('JBSWY3DPEHPK3PXP')
  expect(await barriersOn(page)).toEqual([])
  expect(await status()).toMatchObject({ status: 'opened' })

  await page.getByRole('button', { name: 'Save to the vault' }).click()

  await page.getByRole('heading', { name: 'Done' }).waitFor()
  expect(await barriersOn(page)).toEqual([])
  const { status: end, result } = await status()
  expect(end).toBe('finished')
  expect(result).toMatchObject({ site })
  const { credential_id } = z.object({ credential_id: z.uuid() }).parse(result)
  const totp = await agent('/vault-totp', { credential_id }, z.object({ code: z.string() }))
  expect(totp.code).toMatch(/^\d{6}$/)
  await page.goBack()
  await page.goForward()
  for (const text of [await seen(), JSON.stringify(await status())]) {
    expect(text).not.toContain(password)
    expect(text).not.toContain('JBSWY3DPEHPK3PXP')
  }
})

test('a login of the owner is typed once, and seen again on the page that is asked to show it', async () => {
  const [site, password] = [siteOf('bank'), secret()]
  const { page } = await scene.owner()
  const seen = record(page)
  await page.goto(`${facts.web_url}/vault/new`)
  await page.getByLabel('Site', { exact: true }).fill(site)
  await page.getByLabel('User name or email address at the site').fill('ada')
  await page.getByLabel('Password at the site').fill(password)
  await page.getByRole('button', { name: 'Save to the vault' }).click()
  await page.getByRole('heading', { name: new URL(site).host }).waitFor()
  const entryPage = page.url()
  expect(await seen()).not.toContain(password)

  await page.getByRole('button', { name: 'Show the secrets' }).click()

  await page.getByText(password).waitFor()
  await page.getByRole('link', { name: 'The login' }).click()
  await page.getByRole('heading', { name: 'Change it' }).waitFor()
  expect(await seen()).not.toContain(password)
  for (const path of ['/vault', '/activity', '']) {
    await page.goto(facts.web_url + path)
    expect(await seen()).not.toContain(password)
  }
  await page.goto(entryPage)
  await page.getByRole('button', { name: 'Show the secrets' }).click()
  await page.getByText(password).waitFor()
  await page.goto(`${facts.web_url}/vault`)
  // The answer to a form is never stored, so the browser has no page to go back to.
  await expect(page.goBack()).rejects.toThrow('ERR_CACHE_MISS')
})

test('a login is deleted only once that is ticked', async () => {
  const site = siteOf('old')
  const { page } = await scene.owner()
  const entry = { site, username: 'ada', password: secret() }
  const { credential_id } = await agent(
    '/vault-store',
    entry,
    z.object({ credential_id: z.uuid() }),
  )
  await page.goto(`${facts.web_url}/vault/${credential_id}`)
  await page.getByRole('button', { name: 'Delete the login' }).click()
  await page.getByRole('heading', { name: 'Delete it' }).waitFor()

  await page.getByLabel('Delete it for good').check()
  await page.getByRole('button', { name: 'Delete the login' }).click()

  await page.getByRole('heading', { name: 'Vault', exact: true }).waitFor()
  await expect(page.getByText(new URL(site).host).count()).resolves.toBe(0)
})
