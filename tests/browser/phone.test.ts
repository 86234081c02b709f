/** On a phone, from the link in a mail to a payment that is made: two taps, and nothing to scroll. */
import type { Locator } from 'playwright-core'
import { expect, test } from 'vitest'
import { pay } from '../../scripts/screenshots/stage.ts'
import { openScene } from '../support/browser/browser.ts'
import { fundedOwner } from '../support/browser/funded-owner.ts'

const scene = await openScene()
const viewport = { width: 390, height: 844 }

test('an owner who is signed out pays with a passkey in two taps and without scrolling', async () => {
  const { page, agent } = await fundedOwner(scene, true, { viewport })
  const asked = await pay(agent, { recipient: scene.facts.shop.alias, amount: '45' })
  await page.context().clearCookies()
  /** Taps a button that lies in sight as the page opened. */
  const tap = async (button: Locator) => {
    await button.waitFor()
    const { y, height } = (await button.boundingBox()) ?? { y: Number.NaN, height: Number.NaN }
    expect(y).toBeGreaterThanOrEqual(0)
    expect(y + height).toBeLessThanOrEqual(viewport.height)
    await page.mouse.click(viewport.width / 2, y + height / 2)
  }

  await page.goto(asked.confirmation?.url ?? '')
  await tap(page.getByRole('button', { name: 'Sign in with a passkey' }))
  await page.getByRole('heading', { name: 'Approve this payment?' }).waitFor()
  await tap(page.getByRole('button', { name: 'Approve and pay 45.00 USDC' }))

  await page.getByRole('heading', { name: 'This payment was made' }).waitFor()
})
