/** What was requested before the first passkey is asked anew by one press, and that passkey then approves it. */
import { beforeAll, expect, test } from 'vitest'
import type { Authenticator } from '../support/authenticator.ts'
import { consentAskedOn } from '../support/authenticator.ts'
import type { Browser } from '../support/browserless.ts'
import { signedIn } from '../support/browserless.ts'
import { usdcOf } from '../support/ledger.ts'
import { askMandate } from '../support/mandates.ts'
import { feedOf } from '../support/owner.ts'
import { addPasskey } from '../support/person.ts'
import { waitingTransfer } from '../support/waiting-transfer.ts'
import type { Agent, TestWorld } from '../support/world.ts'
import { start } from '../support/world.ts'

let world: TestWorld
beforeAll(async () => {
  world = await start({ chain: true })
})

async function confirmationOf(payer: Agent, transfer_id: string): Promise<unknown> {
  return (await payer.post('/transfer-status', { transfer_id })).body['confirmation']
}

/** Opens a page and sends its form with the passkey's answer. */
async function approve(browser: Browser, passkey: Authenticator, page: string) {
  const { options } = consentAskedOn(await browser.visit(page))
  const answer = passkey.get(options)
  return browser.submit({ decision: 'approved', answer }, page)
}

test('an older payment is asked anew, the agent is told, and the passkey approves it', async () => {
  const { payer, payee, transfer_id, page, browser } = await waitingTransfer(world)
  const before = await confirmationOf(payer, transfer_id)
  await world.tick(60)
  const passkey = await addPasskey(browser)

  const trapped = await browser.visit(page)
  const listed = await browser.visit('/web/approvals')
  await browser.visit(page)
  const anew = await browser.submit({ decision: 'asked_again' }, page)
  const told = await confirmationOf(payer, transfer_id)
  const done = await approve(browser, passkey, page)

  expect(trapped.text).toContain('Your passkey is newer than this request')
  expect(trapped.html).not.toContain('value="approved"')
  expect(listed.html).not.toContain(`value="${transfer_id}"`)
  expect(anew.html).toContain('value="approved"')
  expect(before).not.toHaveProperty('asked_again')
  expect(told).toMatchObject({ asked_again: true, status: 'pending', level: 'user_session' })
  expect(told).not.toMatchObject({ digest: (before as { digest: string }).digest })
  expect(done.text).toContain('This payment is paid')
  expect(await usdcOf(world, payee)).toBe(500_000_000n)
  expect(await feedOf(world.db, payer)).toContain('confirmation_asked_again')
})

test('an older mandate is asked anew, and the passkey approves it', async () => {
  const agent = await world.agent('pay')
  const browser = await signedIn(world, agent)
  const page = `/web/mandate/${(await askMandate(world, agent)).id}`
  await world.tick(60)
  const passkey = await addPasskey(browser)

  const trapped = await browser.visit(page)
  await browser.submit({ decision: 'asked_again' }, page)
  const done = await approve(browser, passkey, page)

  expect(trapped.html).not.toContain('value="approved"')
  expect(done.text).toContain('This mandate is active')
})

test('what a passkey can approve, or what is decided, is not asked anew', async () => {
  const { payer, transfer_id, page, browser } = await waitingTransfer(world)
  const before = await confirmationOf(payer, transfer_id)
  await browser.visit(page)

  await browser.submit({ decision: 'asked_again' }, page)
  const open = await confirmationOf(payer, transfer_id)
  await browser.submit({ decision: 'declined' }, page)
  await addPasskey(browser)
  await browser.visit('/web/approvals')
  await browser.visit(page)

  expect(open).toEqual(before)
  expect(await confirmationOf(payer, transfer_id)).toMatchObject({ status: 'declined' })
})
