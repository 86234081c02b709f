/** Mandates work in their call order, with an owner who decides in a real browser. */
import { expect, test } from 'vitest'
import * as z from 'zod'
import { type Agent, signInAs } from '../../scripts/screenshots/stage.ts'
import { oddPasskeys } from '../support/browser/authenticator.ts'
import { openScene } from '../support/browser/browser.ts'
import { fundedOwner } from '../support/browser/funded-owner.ts'
import { press } from '../support/browser/people.ts'

const scene = await openScene()
const { web_url: web, merchant } = scene.facts
const resource_url = merchant.v2_url

const asked = z.object({ mandate_id: z.uuid(), status: z.string(), approval_url: z.url() })
const prepared = z.object({
  attempt_id: z.uuid(),
  requires_user_confirm: z.boolean(),
  covered_by: z.object({ mandate_id: z.uuid() }).optional(),
  confirmation: z.object({ url: z.url(), level: z.string() }).optional(),
})
const executed = z.object({ status: z.string(), consent_level: z.string() })
const state = z.object({ status: z.string() })

async function askMandate(agent: Agent) {
  const order = {
    merchant_domain: new URL(resource_url).hostname,
    max_amount_per_payment_usd: '0.50',
    max_amount_per_day_usd: '1',
    ttl_seconds: 3_600,
  }
  return agent('/payment-mandate-create', order, asked)
}

const prepare = (agent: Agent) => agent('/x402-payment-prepare', { resource_url }, prepared)

/** Prepares and pays a purchase with no consent but the mandate's. */
async function buy(agent: Agent) {
  const attempt = await prepare(agent)
  const order = { attempt_id: attempt.attempt_id, user_confirmed: false }
  return { attempt, paid: await agent('/x402-payment-execute', order, executed) }
}

test('a passkey signs what is ticked beside the terms, and the page says so from then on', async () => {
  const { page, agent } = await fundedOwner(scene, true)
  const { approval_url } = await askMandate(agent)

  await page.goto(approval_url)
  await page.getByText('Allow more than this one mandate').click()
  await page.getByLabel('Any key or app of this account may use it').check()
  await press(page, 'Approve the mandate with your passkey')

  await page.getByRole('heading', { name: 'This mandate is active' }).waitFor()
  await page.getByText('Any key or app of this account', { exact: true }).waitFor()
})

test('a password manager that answers with plain objects approves a mandate', async () => {
  const { page, agent } = await fundedOwner(scene, true)
  const { approval_url } = await askMandate(agent)
  await page.addInitScript(oddPasskeys['a password manager that answers with plain objects'])

  await page.goto(approval_url)
  await press(page, 'Approve the mandate with your passkey')

  await page.getByRole('heading', { name: 'This mandate is active' }).waitFor()
})

test('a mandate that a passkey approved carries payments until it is revoked', async () => {
  const { page, agent } = await fundedOwner(scene, true)
  const { mandate_id, status, approval_url } = await askMandate(agent)
  const before = await prepare(agent)

  await page.goto(approval_url)
  await press(page, 'Approve the mandate with your passkey')
  await page.getByRole('heading', { name: 'This mandate is active' }).waitFor()
  const { attempt, paid } = await buy(agent)
  await page.reload()

  expect([status, before.covered_by]).toEqual(['pending_approval', undefined])
  expect(attempt).toMatchObject({ requires_user_confirm: false, covered_by: { mandate_id } })
  expect(paid).toEqual({ status: 'settled', consent_level: 'mandate' })
  await page.getByRole('cell', { name: 'Settled' }).waitFor()
  const receipt = page.waitForEvent('download')
  await page.getByRole('link', { name: 'Download the receipt of your approval' }).click()
  expect((await receipt).suggestedFilename()).toBe(`consent-${mandate_id}.json`)

  await press(page, 'Revoke it')
  await page.getByRole('heading', { name: 'This mandate is revoked' }).waitFor()
  expect((await prepare(agent)).covered_by).toBeUndefined()
})

test('without a passkey the owner approves in its session, and keeps control', async () => {
  const { page, agent } = await fundedOwner(scene, false)
  const { mandate_id, approval_url } = await askMandate(agent)

  await page.goto(approval_url)
  await page.getByText('Narrow it first').click()
  await page.getByLabel('Each payment').fill('0.25')
  await press(page, 'Narrow it')
  await page.getByText('You narrowed what was asked for').waitFor()
  await press(page, 'Approve the mandate')
  await page.getByRole('heading', { name: 'This mandate is active' }).waitFor()
  const covered = await prepare(agent)
  await press(page, 'Suspend it')
  await page.getByRole('heading', { name: 'This mandate is suspended' }).waitFor()
  const held = await prepare(agent)
  await press(page, 'Resume it')
  await page.getByRole('heading', { name: 'This mandate is active' }).waitFor()
  const ended = await agent('/payment-mandate-revoke', { mandate_id }, state)
  await page.reload()

  expect(covered.covered_by).toEqual({ mandate_id })
  expect(held.covered_by).toBeUndefined()
  expect(ended.status).toBe('revoked')
  await page.getByText('by an agent. Nothing more is paid under it').waitFor()
})

test('several payments are approved by one touch of a passkey', async () => {
  const { page, agent } = await fundedOwner(scene, true)
  const order = { chain: 'base-sepolia', token: 'USDC', recipient: scene.facts.payee }
  for (const amount of ['40', '45']) {
    await agent('/wallet-custodial-transfer', { ...order, amount }, z.unknown())
  }

  await page.goto(`${web}/approvals`)
  for (const box of await page.getByRole('checkbox').all()) await box.check()
  await press(page, 'Review selected')
  await press(page, 'Approve and pay all with your passkey')

  await page.getByText('Approved. Transfers are sent').waitFor()
  await page.getByText('Nothing is waiting for you.').waitFor()
})

test('an owner who turns the passkey down has approved nothing', async () => {
  const { page, agent } = await fundedOwner(scene, true)
  const { approval_url } = await askMandate(agent)
  await page.addInitScript(
    "navigator.credentials.get = () => Promise.reject(new DOMException('no', 'NotAllowedError'))",
  )

  await page.goto(approval_url)
  await press(page, 'Approve the mandate with your passkey')
  await page.getByText('The passkey was not used, nothing was approved.').waitFor()
  await press(page, 'Decline')

  await page.getByRole('heading', { name: 'You declined this mandate' }).waitFor()
})

test('without script nothing offers an approval that a passkey has to give', async () => {
  const { agent, person } = await fundedOwner(scene, true)
  const { approval_url } = await askMandate(agent)
  const { page } = await scene.stranger({ javaScriptEnabled: false })
  await signInAs(page, { web_url: web, owner: person })

  await page.goto(approval_url)

  await page.locator('main [data-unable]').waitFor({ state: 'visible' })
  await expect(page.getByRole('button', { name: /Approve/ }).count()).resolves.toBe(0)
  await press(page, 'Decline')
  await page.getByRole('heading', { name: 'You declined this mandate' }).waitFor()
})
