/** An owner whose session was stolen is safe in three presses, and one who lost the passkey has a way back. */
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { mailTo, register, signInAs } from '../../scripts/screenshots/stage.ts'
import { giveAuthenticator } from '../support/browser/authenticator.ts'
import { openScene } from '../support/browser/browser.ts'
import { anybody, keyShownOn, openAccount, press, signOut } from '../support/browser/people.ts'
import { barriersOn } from '../support/browser/sight.ts'

const scene = await openScene()
const { web_url: web, base_url } = scene.facts
const renewed = 'a quite new sentence of mine'

const statusWith = async (key: string) => {
  const headers = { authorization: `Bearer ${key}` }
  return (await fetch(`${base_url}/get-identity`, { headers })).status
}

/** An account with a passkey, whose owner is signed in; the test uses it twice, since a network opens few accounts. */
async function openHome() {
  const person = anybody()
  const visitor = await scene.stranger()
  const { page } = visitor
  await giveAuthenticator(visitor)
  await page.goto(await register(scene.facts, person.email))
  const key = await openAccount(page, person)
  await page.goto(`${web}/security/passkeys`)
  await press(page, 'Add a passkey')
  await page.getByRole('button', { name: 'Rename' }).waitFor()
  return { person, page, key }
}

async function signInWithPasskey(page: Page) {
  await signOut(page, web)
  await press(page, 'Sign in with a passkey')
  await page.waitForURL(web)
}

test('a lost passkey has a way back, and an owner whose session was stolen is alone in three presses', async () => {
  const { person, page, key } = await openHome()
  await page.goto(`${web}/security/recovery-codes`)
  await press(page, 'Make ten new codes')
  const codes = (await page.locator('pre.codes').innerText()).split('\n')
  const { page: elsewhere } = await scene.stranger()
  await elsewhere.goto(`${web}/login/recovery`)
  await elsewhere.getByLabel('Email address').fill(person.email)
  await elsewhere.getByLabel('Recovery code').fill(codes[0] ?? '')
  await press(elsewhere, 'Sign in')

  await elsewhere.getByRole('heading', { name: 'The account is on hold' }).waitFor()
  await elsewhere.getByLabel('Password', { exact: true }).fill(renewed)
  await elsewhere.getByLabel('I have lost all my passkeys').check()
  await press(elsewhere, 'Set password')
  await elsewhere.getByText('All passkeys are removed, unless one is used before').waitFor()
  expect(await barriersOn(elsewhere)).toEqual([])
  await signInWithPasskey(page)
  await page.getByRole('link', { name: 'Review or end the hold' }).click()
  await press(page, 'End the hold')
  await page.getByRole('heading', { name: 'The account is not on hold' }).waitFor()

  await elsewhere.goto(`${web}/security`)
  await elsewhere.waitForURL(/\/login/)

  const { page: thief } = await scene.stranger()
  await signInAs(thief, { web_url: web, owner: person })
  const notice = await mailTo(scene.facts, person.email, 'New sign-in to your account')
  const link = /https?:\/\/\S+\/secure/.exec(notice)?.[0] ?? ''
  await signInWithPasskey(page)

  await page.goto(link)
  expect(await barriersOn(page)).toEqual([])
  await page.getByLabel('Password', { exact: true }).fill(renewed)
  await press(page, 'Secure my account')
  await page.getByRole('heading', { name: 'Your account is secured' }).waitFor()

  expect(await barriersOn(page)).toEqual([])
  await thief.goto(`${web}/security`)
  await thief.waitForURL(/\/login/)
  expect(await statusWith(key)).toBe(401)
  await page.getByRole('button', { name: /^New key/ }).click()
  expect(await statusWith(await keyShownOn(page))).toBe(200)
})
