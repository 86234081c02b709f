/** An owner makes a mandate from a payment; the next payments like it are not asked about, others are. */
import { beforeAll, expect, test } from 'vitest'
import { consentAskedOn } from '../support/authenticator.ts'
import { signedIn } from '../support/browserless.ts'
import { usdcOf } from '../support/ledger.ts'
import { addPasskey } from '../support/person.ts'
import { waitingTransfer } from '../support/waiting-transfer.ts'
import { anew } from '../support/wish.ts'
import { start, type TestWorld } from '../support/world.ts'

const transfer = '/wallet-custodial-transfer'
let world: TestWorld
beforeAll(async () => {
  world = await start({ chain: true })
})

test('what is always allowed pays this payee from this key within the amount, and nothing else', async () => {
  const { browser, page, payer, payee, order } = await waitingTransfer(world, { amount: '300' })
  const shown = await browser.visit(page)
  const form = await browser.visit(`${page}/always`)
  const mandate = await browser.submit({ month: '600' }, `${page}/always`)
  const active = await browser.submit({ decision: 'approved' }, mandate.path)

  const paid = []
  for (const _ of [1, 2]) paid.push((await payer.post(transfer, anew(order))).body)
  const over = await payer.post(transfer, anew(order))
  const other = (await world.agent('read')).alias
  const elsewhere = await payer.post(transfer, anew({ ...order, recipient: other, amount: '20' }))

  expect(shown.html).toContain(`href="${page}/always"`)
  expect(form.html).toMatch(/name="month"[^>]*value="300"/)
  expect(mandate.text).toContain(`to ${payee.alias}`)
  expect(mandate.text).toContain('300 USD each and 600 USD in all')
  expect(mandate.text).toContain('You created it for The key')
  expect(active.text).toContain('This mandate is active')
  for (const body of paid) expect(body).toMatchObject({ consent_level: 'mandate' })
  for (const { body } of [over, elsewhere]) expect(body['status']).toBe('awaiting_confirmation')
  expect(await usdcOf(world, payee)).toBe(600_000_000n)
})

test('a mandate of the owner takes the passkey like any other', async () => {
  const { browser, page, payer, order } = await waitingTransfer(world)
  const passkey = await addPasskey(browser)
  await browser.visit(`${page}/always`)
  const asked = await browser.submit({}, `${page}/always`)

  const bare = await browser.submit({ decision: 'approved' }, asked.path)
  const answer = passkey.get(consentAskedOn(await browser.visit(asked.path)).options)
  const signed = await browser.submit({ decision: 'approved', answer }, asked.path)

  expect(bare.text).toContain('Nothing was approved')
  expect(signed.text).toContain('This mandate is active')
  expect((await payer.post(transfer, anew(order))).body).toMatchObject({ consent_level: 'mandate' })
})

test('an amount below the payment is told, and a stranger makes no mandate of it', async () => {
  const { browser, page } = await waitingTransfer(world)
  const stranger = await signedIn(world, await world.agent('pay'))

  await browser.visit(`${page}/always`)
  const less = await browser.submit({ month: '499.99' }, `${page}/always`)
  const foreign = await stranger.visit(`${page}/always`)

  expect([less.status, less.text]).toEqual([
    400,
    expect.stringContaining('Enter an amount from 500'),
  ])
  expect(foreign.status).toBe(404)
  expect(
    await world.db.sql`select id from private.mandates where by_owner
    and account = (select account from private.payments where id = ${page.split('/').at(-1) ?? ''})`,
  ).toEqual([])
})
