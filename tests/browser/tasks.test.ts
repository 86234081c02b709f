/** Ten things that owners come for, each within five taps of the overview, on a phone and on a desktop. */
import { text } from 'node:stream/consumers'
import type { Locator, Page } from 'playwright-core'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { type Agent, pay, writeTo } from '../../scripts/screenshots/stage.ts'
import { giveAuthenticator } from '../support/browser/authenticator.ts'
import { openScene } from '../support/browser/browser.ts'
import { fundedOwner } from '../support/browser/funded-owner.ts'
import { press } from '../support/browser/people.ts'

const scene = await openScene()
const { merchant, payee, shop, web_url: web } = scene.facts
const tapsMax = 5

const attempt = z.object({ attempt_id: z.uuid() })
const mandate = z.object({ approval_url: z.url() })
const identity = z.object({ mail_address: z.string() })

/** Lets an agent do everything that the tasks are about. */
async function letHappen(page: Page, agent: Agent): Promise<void> {
  const { v2_url: resource_url } = merchant
  for (let purchase = 0; purchase < 2; purchase += 1) {
    const { attempt_id } = await agent('/x402-payment-prepare', { resource_url }, attempt)
    await agent('/x402-payment-execute', { attempt_id, user_confirmed: true }, z.unknown())
  }
  await pay(agent, { recipient: shop.alias, amount: '51' }).catch(() => undefined)
  const order = {
    merchant_domain: new URL(resource_url).hostname,
    max_amount_per_payment_usd: '1',
    ttl_seconds: 86_400,
  }
  const { approval_url } = await agent('/payment-mandate-create', order, mandate)
  await page.goto(approval_url)
  await press(page, 'Approve the mandate with your passkey')
  await page.getByRole('heading', { name: 'This mandate is active' }).waitFor()
  const { mail_address } = await agent('/get-identity', undefined, identity)
  await writeTo(scene.facts, mail_address)
}

/** Returns the first amount of a text in millionths; an IP address is none. */
const numberIn = (words: string) =>
  Math.round(Number(/(?<![.\d])\d+\.\d+(?![.\d])/.exec(words)?.[0]) * 1e6)

/** Counts taps. What is typed, chosen or ticked beside them is not counted. */
function handOn(page: Page) {
  let taps = 0
  const tap = async (at: Locator) => {
    taps += 1
    await at.first().click()
  }
  const link = (name: string | RegExp) => page.getByRole('link', { name })
  const button = (name: string) => page.getByRole('button', { name, exact: true })
  return {
    tap,
    link,
    button,
    says: (words: string | RegExp) => page.getByText(words).first().waitFor(),
    /** Opens an entry of the navigation, which a phone has behind a button. */
    open: async (entry: string) => {
      if (await button('Menu').isVisible()) await tap(button('Menu'))
      await tap(page.locator('#menu').getByRole('link', { name: entry }))
      await page.getByRole('heading', { level: 1, name: entry }).waitFor()
    },
    task: async (name: string, steps: () => Promise<unknown>) => {
      await page.goto(web)
      taps = 0
      await steps()
      expect(taps, name).toBeLessThanOrEqual(tapsMax)
    },
  }
}

test.each([
  ['phone', { width: 390, height: 844 }],
  ['desktop', { width: 1280, height: 800 }],
])('on a %s', async (_, viewport) => {
  const { page, agent } = await fundedOwner(scene, true, { viewport })
  await letHappen(page, agent)
  await page.context().clearCookies()
  await page.goto(web)
  await press(page, 'Sign in with a passkey')
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
  const { open, tap, link, button, says, task } = handOn(page)

  await task('sends 5 USDC to a new address', async () => {
    await open('Send')
    await page.getByLabel('To', { exact: true }).fill(payee)
    await page.getByLabel('Amount').fill('5')
    await tap(button('Continue'))
    await tap(button('Approve and pay 5.00 USDC with your passkey'))
    await page.getByRole('heading', { name: 'This payment was made' }).waitFor()
  })

  await task('finds what was paid to a host in the last months, and its sum', async () => {
    await open('Spending')
    await tap(link('Last 90 days'))
    const row = page.getByRole('row', { name: new URL(merchant.v2_url).host })
    const sum = numberIn(await row.innerText())
    await tap(row.getByRole('link'))
    await says('Results')
    const amounts = await page.locator('main .money').allInnerTexts()
    expect(amounts).toHaveLength(2)
    expect(amounts.reduce((total, one) => total + numberIn(one), 0)).toBe(sum)
  })

  await task('exports the payments for the bookkeeper', async () => {
    await open('Activity')
    const download = page.waitForEvent('download')
    await tap(link('Export payments'))
    const file = await text(await (await download).createReadStream())
    expect(file.split('\n')[0]).toContain('usd_value')
  })

  await task('raises a limit', async () => {
    await open('Limits')
    await page.getByLabel('Without asking').fill('$1,000')
    await tap(button('Save'))
    await says('Without asking: 200.00 to 1,000.00 USD.')
  })

  await task('sees why a payment was refused', async () => {
    await open('Activity')
    await tap(page.getByRole('listitem').filter({ hasText: 'Refused' }).getByRole('link'))
    await says('The amount is over what this key or app may pay at once.')
  })

  await task('connects Cursor', async () => {
    await open('API keys')
    await tap(link('Connect your agent'))
    await tap(page.locator('summary', { hasText: 'Cursor' }))
    await says('~/.cursor/mcp.json')
  })

  await task('closes a mandate', async () => {
    await open('Mandates')
    await tap(link(/^View/))
    await tap(button('Revoke it'))
    await page.getByRole('heading', { name: 'This mandate is revoked' }).waitFor()
  })

  await task('reads the code of a mail', async () => {
    await open('Mail')
    await tap(link('Your verification code'))
    await says('482913')
  })

  // A device holds one passkey of an account, so this one is on another.
  await giveAuthenticator({ context: page.context(), page }, 'usb')
  await task('adds a passkey', async () => {
    await open('Security')
    await tap(link('Add or remove passkeys'))
    await page.getByLabel('Name', { exact: true }).last().fill('A second one')
    await tap(button('Add a passkey'))
    await page.getByRole('heading', { name: 'A second one' }).waitFor()
  })

  await task('ends an agent', async () => {
    await open('API keys')
    await tap(page.getByRole('row', { name: 'aoa_test' }).getByRole('link'))
    await page.getByLabel('End its access for good').check()
    await tap(button('Revoke the key'))
    await says(/revoked/i)
  })
})
