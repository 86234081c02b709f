/** Every decision of the owner fits on one screen: what it is about comes first, and both buttons are in sight. */
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import {
  askingUrl,
  askMandate,
  openAgent,
  pay,
  registerApp,
} from '../../scripts/screenshots/stage.ts'
import { openScene } from '../support/browser/browser.ts'
import { press } from '../support/browser/people.ts'
import { barriersOn, sidewaysOn } from '../support/browser/sight.ts'
import { randomBytes } from '../support/seed.ts'

const scene = await openScene()
const { facts } = scene
const agent = openAgent(facts.base_url, facts.api_keys.pay)

/** Asks for a payment to a new recipient, over the limit that an agent's own confirmation covers. */
async function newPayment(): Promise<string> {
  const recipient = `0x${randomBytes(20).toString('hex')}`
  const asked = await pay(agent, { recipient, amount: '12.50', memo: 'Rent for the crawler' })
  return asked.confirmation?.url ?? ''
}

const decisions: [
  name: string,
  buttons: readonly [string, string],
  open: (page: Page) => Promise<unknown>,
][] = [
  [
    'a payment',
    ['Approve and pay 12.50 USDC', 'Decline'],
    async (page) => page.goto(await newPayment()),
  ],
  [
    'several payments',
    ['Approve and pay all', 'Decline'],
    async (page) => {
      await newPayment()
      await newPayment()
      await page.goto(`${facts.web_url}/approvals`)
      for (const box of await page.getByRole('checkbox').all()) await box.check()
      await press(page, 'Review selected')
    },
  ],
  [
    'a mandate',
    ['Approve the mandate', 'Decline'],
    async (page) => page.goto(await askMandate(facts)),
  ],
  [
    'an app',
    ['Allow', 'Deny'],
    async (page) => {
      const app = await registerApp(facts, 'https://app.example/back')
      await page.goto(askingUrl(facts, app, 'pay'))
    },
  ],
]

describe.each([
  { width: 390, height: 844 },
  { width: 1280, height: 800 },
])('on $width x $height', (viewport) => {
  test.each(decisions)('%s is decided without scrolling, whatever is unfolded', async (...step) => {
    const [, buttons, open] = step
    const { page } = await scene.owner({ viewport, reducedMotion: 'reduce' })
    await open(page)
    const ends = async () =>
      Promise.all(
        buttons.map(async (name) => {
          const box = await page.getByRole('button', { name, exact: true }).boundingBox()
          return (box?.y ?? Number.NaN) + (box?.height ?? 0)
        }),
      )

    await page.locator('.decision .headline').waitFor()
    const figure = await page.locator('.headline .figure').boundingBox()
    const first = await ends()
    for (const summary of await page
      .locator('main > details > summary, form > details > summary')
      .all()) {
      await summary.click()
    }
    const unfolded = await ends()
    const sideways = await sidewaysOn(page)

    expect(await page.locator('nav').count()).toBe(0)
    expect((figure?.y ?? Number.NaN) + (figure?.height ?? 0)).toBeLessThan(viewport.height / 2)
    for (const end of [...first, ...unfolded]) expect(end).toBeLessThanOrEqual(viewport.height)
    expect(sideways).toEqual([])
    expect(await barriersOn(page)).toEqual([])
  })
})
