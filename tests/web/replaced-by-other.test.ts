/** No program takes the place of another one by its name and a place on the device alone. */
import { beforeAll, expect, test } from 'vitest'
import * as z from 'zod'
import { askingPath, connectApp, goesTo, redeemCode, registerApp } from '../support/apps.ts'
import { signedIn } from '../support/browserless.ts'
import { usdcOf } from '../support/ledger.ts'
import { openPerson } from '../support/person.ts'
import { start, type TestWorld } from '../support/world.ts'

let world: TestWorld
beforeAll(async () => {
  world = await start({ chain: true })
})

const uri = 'http://127.0.0.1/back'
const madeMandate = z.object({ mandate_id: z.uuid() })

/** Returns an owner with an app whose host was checked, by a document at its address. */
async function homeWithChecked() {
  const person = await openPerson(world, 50)
  const connected = await connectApp(world, person.agent, {
    name: 'Claude Code',
    scope: 'pay',
    host: 'localhost',
  })
  await world.db.sql`update private.oauth_grants set client_host = 'claude.example',
    client_id = 'https://claude.example/client.json' where credential = ${connected.app}`
  return { person, browser: await signedIn(world, person.agent), ...connected }
}

/** Registers another program under the name, without a document, and returns the path at which it asks. */
async function imitator() {
  const id = await registerApp(world, { name: 'Claude Code', uri })
  return { id, path: askingPath(id, { redirect_uri: uri, scope: 'pay' }) }
}

/** Sends a call with an access token from a program that calls itself so. */
const call = (token: string, path: string, body: object) =>
  world.send(path, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'user-agent': 'claude-code/2.1',
    },
  })

test('a program that nobody checked is not taken for the checked app whose name it bears', async () => {
  const { browser } = await homeWithChecked()

  const { text, html } = await browser.visit((await imitator()).path)

  expect(text).not.toContain('You connected an app of this name before')
  expect(html).not.toMatch(/name="replaces" value="yes" checked/)
  expect(text).toContain('Another app has this name')
})

test('pressing Allow hands no mandate of a checked app to a program that nobody checked', async () => {
  const { browser, token } = await homeWithChecked()
  const payee = await world.agent('read')
  const order = { recipient: payee.address, chain: 'base-sepolia', token: 'USDC', amount: '5' }
  const terms = {
    merchant_domain: 'shop.example',
    pay_to: [payee.address],
    max_amount_per_payment_usd: '5',
    ttl_seconds: 86_400,
  }
  const { mandate_id } = madeMandate.parse(
    (await call(token, '/payment-mandate-create', terms)).body,
  )
  await browser.visit(`/web/mandate/${mandate_id}`)
  await browser.submit({ decision: 'approved' }, `/web/mandate/${mandate_id}`)
  const { id, path } = await imitator()
  await browser.visit(path)

  const back = goesTo(await browser.submit({ decision: 'allowed' }, path))
  const other = await redeemCode(world, id, back, uri)
  const paid = await call(other, '/wallet-custodial-transfer', order)

  expect(paid.body['consent_level']).not.toBe('mandate')
  expect(await usdcOf(world, payee)).toBe(0n)
  expect((await call(token, '/get-wallet-balances', {})).status).toBe(200)
})

test('another app of the name ends for one that its owner lets in instead, and only what it spent passes on', async () => {
  const person = await openPerson(world, 50)
  const payee = await world.agent('read')
  const elder = await connectApp(world, person.agent, {
    name: 'Claude Code',
    scope: 'pay',
    host: 'localhost',
  })
  await connectApp(world, person.agent, { name: 'Claude Code', host: 'other.example' })
  await world.acquaint(person.agent, payee.address)
  const paying = { chain: 'base-sepolia', token: 'USDC', user_confirmed: true }
  const order = { ...paying, recipient: payee.address }
  await call(elder.token, '/wallet-custodial-transfer', { ...order, amount: '15' })
  const terms = { merchant_domain: 'shop.example', max_amount_per_payment_usd: '5' }
  const mandate = await call(elder.token, '/payment-mandate-create', {
    ...terms,
    ttl_seconds: 86_400,
  })
  const browser = await signedIn(world, person.agent)
  const { id, path } = await imitator()
  const { text, html } = await browser.visit(path)
  const given = { decision: 'allowed', replaces: 'yes', each: '20', day: '20' }

  const other = await redeemCode(world, id, goesTo(await browser.submit(given, path)), uri)
  const over = await call(other, '/wallet-custodial-transfer', { ...order, amount: '6' })

  expect(text).toContain('You connected an app of this name before')
  expect(text).toContain('its responses go to other.example .')
  expect(html).toContain('name="replaces" value="yes"/>')
  expect((await call(elder.token, '/get-wallet-balances', {})).status).toBe(401)
  const [left] = await world.db.sql`select state from private.mandates
    where id = ${String(mandate.body['mandate_id'])}`
  expect(left).toEqual({ state: 'revoked' })
  expect(over.body).toMatchObject({
    error: 'limit_exceeded',
    details: { reasons: [{ code: 'credential_daily_cap', headroom_usd: '5' }] },
  })
})

test('a page that named one app to disconnect disconnects no other that was connected since', async () => {
  const person = await openPerson(world)
  const was = { name: 'Claude Code', host: 'localhost' }
  await connectApp(world, person.agent, was)
  const browser = await signedIn(world, person.agent)
  const { path } = await imitator()
  await browser.visit(path)
  await connectApp(world, person.agent, was)

  const { status, text } = await browser.submit({ decision: 'allowed', replaces: 'yes' }, path)

  expect([status, text]).toEqual([400, expect.stringContaining('Review it again.')])
})
