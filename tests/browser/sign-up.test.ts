/** A person gets from no account to an account with a key, by real mail, and can sign in again. */
import { expect, test } from 'vitest'
import * as z from 'zod'
import { mailTo, openAgent, register, signInAs } from '../../scripts/screenshots/stage.ts'
import { giveAuthenticator, oddPasskeys } from '../support/browser/authenticator.ts'
import { openScene } from '../support/browser/browser.ts'
import { anybody, keyShownOn, openAccount, press, signOut } from '../support/browser/people.ts'
import { barriersOn } from '../support/browser/sight.ts'

const scene = await openScene()
const { web_url: web, base_url } = scene.facts
const identity = z.object({ alias: z.string(), credential: z.object({ kind: z.string() }) })

test('an agent brings its user in, and has a key that works', async () => {
  const person = anybody()
  const link = await register(scene.facts, person.email, person.alias)
  const { page } = await scene.stranger()

  await page.goto(link)
  await expect(page.getByLabel('Alias').inputValue()).resolves.toBe(person.alias)
  const key = await openAccount(page, person)
  expect(await barriersOn(page)).toEqual([])

  const agent = openAgent(base_url, key)
  expect(await agent('/get-identity', undefined, identity)).toMatchObject({ alias: person.alias })
  await page.goto(link)
  await page.getByRole('heading', { name: 'This link no longer works' }).waitFor()
  await page.goto(web)
  await expect(page.content()).resolves.not.toContain(key)
  await expect(page.getByText(person.alias).count()).resolves.toBeGreaterThan(0)
})

test('a passkey is added, and signs in without a password', async () => {
  const person = anybody()
  const visitor = await scene.stranger()
  const { page } = visitor
  await giveAuthenticator(visitor)
  await page.goto(await register(scene.facts, person.email))
  await openAccount(page, person)

  await page.goto(`${web}/security/passkeys`)
  await page.getByLabel('Name', { exact: true }).fill('This laptop')
  await press(page, 'Add a passkey')
  await page.getByRole('heading', { name: 'This laptop' }).waitFor()
  await signOut(page, web)
  await press(page, 'Sign in with a passkey')

  await page.waitForURL(web)
  await expect(page.getByText(person.alias).count()).resolves.toBeGreaterThan(0)
  expect(await mailTo(scene.facts, person.email, 'New passkey for your account')).toContain(
    'This laptop',
  )
})

test.each(Object.entries(oddPasskeys))(
  'with %s a passkey is added and signs in',
  async (_, script) => {
    const person = anybody()
    const visitor = await scene.stranger()
    const { page } = visitor
    await giveAuthenticator(visitor)
    await page.addInitScript(script)
    await page.goto(await register(scene.facts, person.email))
    await openAccount(page, person)
    await press(page, 'Add a passkey')
    await page.getByRole('heading', { name: 'Passkeys' }).waitFor()
    await signOut(page, web)

    await press(page, 'Sign in with a passkey')

    await page.waitForURL(web)
    await expect(page.getByText(person.alias).count()).resolves.toBeGreaterThan(0)
  },
)

test.each([
  ["new DOMException('no', 'NotAllowedError')", 'It was declined, took too long'],
  ["new DOMException('no', 'SecurityError')", 'are for another web address'],
  ["new TypeError('no')", 'gave no valid passkey response'],
])(
  'an owner whose passkey fails with %s is told why, and what else opens the account',
  async (error, why) => {
    const { page } = await scene.stranger()
    await page.addInitScript(`navigator.credentials.get = () => Promise.reject(${error})`)

    await page.goto(`${web}/login`)
    await press(page, 'Sign in with a passkey')

    const told = await page.getByRole('alert').textContent()
    expect(told).toContain(why)
    expect(told).toContain('You can also sign in with your email address and password')
  },
)

test('a passkey can be added where the account was opened, and signs in', async () => {
  const person = anybody()
  const visitor = await scene.stranger()
  const { page } = visitor
  await giveAuthenticator(visitor)
  await page.goto(await register(scene.facts, person.email))
  await openAccount(page, person)

  await press(page, 'Add a passkey')
  await page.getByRole('heading', { name: 'Passkeys' }).waitFor()
  await signOut(page, web)
  await press(page, 'Sign in with a passkey')

  await page.waitForURL(web)
})

test('without scripts: sign-up by mail, sign-in, a key made, used and revoked, a limit set', async () => {
  const person = anybody()
  const { page } = await scene.stranger({ javaScriptEnabled: false })
  await page.goto(`${web}/join`)
  await page.getByLabel('Your email address').fill(person.email)
  await press(page, 'Send the code')
  const [code = ''] =
    /\b\d{6}\b/.exec(await mailTo(scene.facts, person.email, 'Your sign-up code')) ?? []
  await page.getByLabel('Code').fill(code)
  await press(page, 'Continue')
  await openAccount(page, person)

  await signOut(page, web)
  await signInAs(page, { web_url: web, owner: person })
  await page.goto(`${web}/keys`)
  await page.getByLabel('Name', { exact: true }).fill('Reader')
  await press(page, 'Create the key')
  const key = await keyShownOn(page)
  const ask = () =>
    fetch(`${base_url}/get-identity`, { headers: { authorization: `Bearer ${key}` } })
  expect((await ask()).status).toBe(200)
  await page.goto(`${web}/keys`)
  await page.getByRole('row', { name: 'Reader' }).getByRole('link').click()
  await page.getByLabel('End its access for good').check()
  await press(page, 'Revoke the key')
  expect((await ask()).status).toBe(401)

  await page.goto(`${web}/limits`)
  await page.locator('input[name=usd_automatic_daily]').fill('55')
  await page.locator('form:has(input[name=usd_automatic_daily]) button').click()
  await page.getByText('Saved. Without asking').waitFor()
  await expect(page.locator('#field-usd_automatic_daily').inputValue()).resolves.toMatch(/^55/)
})
