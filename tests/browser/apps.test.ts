/** An app on another site sends its user here, gets access, acts for the account and loses its access. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, expect, test } from 'vitest'
import { askingUrl, redeem, registerApp } from '../../scripts/screenshots/stage.ts'
import { openScene } from '../support/browser/browser.ts'
import { press } from '../support/browser/people.ts'

const scene = await openScene()
const { facts } = scene

let asking = ''
/** Serves the app's own site. Like most sites, it redirects the returning browser within itself. */
const site = createServer((request, response) => {
  if (request.url?.startsWith('/back')) {
    response.writeHead(302, { location: request.url.replace('/back', '/home') }).end()
    return
  }
  const way = asking.replaceAll('&', '&amp;')
  response.setHeader('content-type', 'text/html')
  response.end(`<title>Desk</title><h1>Your desk</h1><a href="${way}">Connect</a>`)
})
await new Promise<void>((resolve) => void site.listen(0, '127.0.0.1', resolve))
afterAll(() => void site.close())

function siteUrl(): string {
  const address: AddressInfo | string | null = site.address()
  if (address === null || typeof address === 'string') throw new Error('the site has no port')
  return `http://127.0.0.1:${address.port}`
}

async function callWith(token: string) {
  const headers = { authorization: `Bearer ${token}` }
  const answer = await fetch(`${facts.base_url}/get-identity`, { headers })
  return { status: answer.status, body: await answer.json() }
}

test.each([
  ['with scripts', true],
  ['without scripts', false],
])('a user of an app signs in, allows it and is back in it, %s', async (_, javaScriptEnabled) => {
  const app = await registerApp(facts, `${siteUrl()}/back`)
  const { page } = await scene.stranger({ javaScriptEnabled })
  asking = askingUrl(facts, app, 'pay')

  await page.goto(siteUrl())
  await page.getByRole('link', { name: 'Connect' }).click()
  await page.getByLabel('Email address').fill(facts.owner.email)
  await page.getByLabel('Password').fill(facts.owner.password)
  await press(page, 'Sign in')
  await page.getByRole('heading', { name: 'Let this app into your account?' }).waitFor()
  await page.getByText('(change)').click()
  await page.getByLabel('Most per payment').fill('12.50')
  await press(page, 'Allow')
  await page.waitForURL(`${siteUrl()}/home?*`)
  const token = await redeem(facts, app, page.url())

  const credential = { kind: 'oauth', scopes: ['pay'] }
  expect(await callWith(token)).toMatchObject({ status: 200, body: { credential } })
  await page.goto(`${facts.web_url}/apps`)
  await page.getByRole('link', { name: 'Research desk' }).first().click()
  expect(await page.innerText('main')).toContain('12.50 USD each, 200.00 USD a day')
  await page.getByLabel('End its access for good').check()
  await press(page, 'Disconnect the app')
  await page.getByRole('heading', { name: 'Ended' }).waitFor()
  expect((await callWith(token)).status).toBe(401)
})

test('a user who is signed in here needs not sign in again; a no is told to the app', async () => {
  const app = await registerApp(facts, `${siteUrl()}/back`)
  const { page } = await scene.owner()
  asking = askingUrl(facts, app, 'read')

  await page.goto(siteUrl())
  await page.getByRole('link', { name: 'Connect' }).click()
  await press(page, 'Deny')
  await page.waitForURL(`${siteUrl()}/home?*`)

  const { searchParams } = new URL(page.url())
  expect(searchParams.get('error')).toBe('access_denied')
  expect(searchParams.get('state')).toBe('of this browser')
})
