/** The owner approves, declines, freezes and unfreezes, and the agent sees the effect at once. */
import { expect, test } from 'vitest'
import * as z from 'zod'
import { openAgent, pay, register } from '../../scripts/screenshots/stage.ts'
import { openScene } from '../support/browser/browser.ts'
import { anybody, openAccount, press } from '../support/browser/people.ts'
import { barriersOn } from '../support/browser/sight.ts'
import { randomBytes } from '../support/seed.ts'

const scene = await openScene()
const { facts } = scene
const agent = openAgent(facts.base_url, facts.api_keys.pay)

/** Returns a payment to a new recipient, over the limit that an agent's own confirmation covers. */
function newOrder() {
  const recipient = `0x${randomBytes(20).toString('hex')}`
  return { recipient, amount: '12.50', memo: 'Rent for the crawler' }
}

/** Sends the payment again and returns the answer that the agent gets. */
async function repeat(order: object, transfer_id: string) {
  const answer = await fetch(`${facts.base_url}/wallet-custodial-transfer`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${facts.api_keys.pay}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({
      ...order,
      chain: 'base-sepolia',
      token: 'USDC',
      transfer_id,
      user_confirmed: true,
    }),
  })
  return { status: answer.status, body: z.looseObject({}).parse(await answer.json()) }
}

test.each([
  ['with scripts', true],
  ['without scripts', false],
])('a payment that is approved %s goes through once', async (_, javaScriptEnabled) => {
  const order = newOrder()
  const asked = await pay(agent, order)
  expect(asked.requires_user_confirm).toBe(true)
  const { page } = await scene.owner({ javaScriptEnabled })

  await page.goto(asked.confirmation?.url ?? '')
  const terms = (await page.innerText('main')).toLowerCase()
  expect(terms).toMatch(/12\.50? usdc/)
  expect(terms).toContain(order.recipient)
  await press(page, 'Approve and pay 12.50 USDC')
  await page.getByRole('heading', { name: 'This payment was made' }).waitFor()
  const first = await repeat(order, asked.transfer_id)
  const second = await repeat(order, asked.transfer_id)

  expect(first).toMatchObject({ status: 200, body: { consent_level: 'user_session' } })
  expect(second.body['tx_hash']).toBe(first.body['tx_hash'])
  expect(await page.getByRole('link', { name: 'transaction' }).getAttribute('href')).toContain(
    String(first.body['tx_hash']),
  )
})

test('a payment that is declined is closed to the agent', async () => {
  const order = newOrder()
  const asked = await pay(agent, order)
  const { page } = await scene.owner()

  await page.goto(asked.confirmation?.url ?? '')
  await press(page, 'Decline')
  await page.getByRole('heading', { name: 'You declined this payment' }).waitFor()

  expect(await repeat(order, asked.transfer_id)).toMatchObject({ status: 409 })
})

test('a frozen account pays nothing until its owner unfreezes it', async () => {
  // This test uses its own account, because other files need the demo account unfrozen.
  const person = anybody()
  const { page } = await scene.stranger()
  await page.goto(await register(facts, person.email))
  const own = openAgent(facts.base_url, await openAccount(page, person))
  await pay(agent, { recipient: person.alias, amount: '0.50' })
  const small = { recipient: facts.shop.alias, amount: '0.10' }

  await page.goto(`${facts.web_url}/freeze`)
  await press(page, 'Freeze now')
  await page.getByRole('heading', { name: 'The account is frozen' }).waitFor()
  expect(await barriersOn(page)).toEqual([])
  await expect(pay(own, small)).rejects.toThrow('account_frozen')

  await page.goto(`${facts.web_url}/freeze`)
  expect(await barriersOn(page)).toEqual([])
  await press(page, 'Unfreeze')
  await page.getByRole('heading', { name: 'Freeze the account' }).waitFor()

  expect((await pay(own, small)).status).not.toBe('awaiting_confirmation')
})
