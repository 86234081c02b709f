/** The page behind confirmation.url shows the terms, and approves or declines them. */
import { beforeAll, expect, test } from 'vitest'
import * as z from 'zod'
import { fund } from '../../scripts/local/chain.ts'
import { ownForm, signedIn } from '../support/browserless.ts'
import { newKey, transfer } from '../support/chain-world.ts'
import { sendAs } from '../support/deposits.ts'
import { usdcOf } from '../support/ledger.ts'
import { paymentOf } from '../support/owner.ts'
import { waitingTransfer } from '../support/waiting-transfer.ts'
import { start, type TestWorld } from '../support/world.ts'

const path = '/wallet-custodial-transfer'
let world: TestWorld
beforeAll(async () => {
  world = await start({ chain: true })
})

const asking = z.object({ confirmation: z.object({ url: z.url() }) })

const waiting = (differs: object = {}) =>
  waitingTransfer(world, { memo: 'for <b>shoes</b>', ...differs })

test('shows the terms in full and warns; approving pays at once, and the agent finds it paid', async () => {
  const { payee, page, repeat, browser } = await waiting()

  const shown = await browser.visit(page)
  const done = await browser.submit({ decision: 'approved' })
  const received = await usdcOf(world, payee)
  const [found, again] = [await repeat(), await repeat()]

  expect(shown.status).toBe(200)
  const groups = payee.address.slice(2).match(/.{4}/g) ?? []
  const told = [
    '500.00 USDC',
    payee.alias,
    groups.join(' '),
    'New recipient',
    'New device',
    'The key “pay” (aoa_',
    'Approve and pay 500.00 USDC',
  ]
  for (const text of told) expect(shown.text).toContain(text)
  expect(shown.html).toContain('for &lt;b&gt;shoes&lt;/b&gt;')
  expect(shown.html).toContain(`data-copy="${payee.address}"`)
  expect(done).toMatchObject({ status: 200, path: page })
  expect(done.text).toContain('This payment was made')
  expect(received).toBe(500_000_000n)
  expect(found.body).toMatchObject({ status: 'settled', consent_level: 'user_session' })
  expect(done.html).toContain(`/tx/${String(found.body['tx_hash'])}`)
  expect(again.body).toEqual(found.body)
  expect(await usdcOf(world, payee)).toBe(500_000_000n)
  expect((await browser.visit(page)).html).not.toContain('value="approved"')
})

test('what the wallet cannot pay stays approved, and its owner sends it after a deposit', async () => {
  const { payer, payee, page, browser } = await waiting({ amount: '900' })
  await browser.visit(page)
  await sendAs(world, payer.address, transfer(newKey().at, 1_500_000_000n))

  const short = await browser.submit({ decision: 'approved' })
  await fund(world.chain, payer.address, { usdcAtomic: 900_000_000n })
  const sent = await browser.submit({ decision: 'send' })

  expect(short.text).toContain('Approved, not sent yet The wallet does not hold enough.')
  expect(sent.text).toContain('This payment was made')
  expect(await usdcOf(world, payee)).toBe(900_000_000n)
})

test('owner and agent that send at once pay once', async () => {
  const { payee, page, repeat, browser } = await waiting()
  await browser.visit(page)

  const approving = browser.submit({ decision: 'approved' })
  await Promise.all([approving, repeat(), repeat(), repeat()])

  expect(await usdcOf(world, payee)).toBe(500_000_000n)
})

test('no session sends what it did not approve, or what is of another account', async () => {
  const { payee, page, transfer_id, browser } = await waiting()
  const { browser: stranger } = await waiting()
  const body = new URLSearchParams({ form: ownForm(stranger), decision: 'send' })

  await browser.visit(page)
  const unapproved = await browser.submit({ decision: 'send' })
  await stranger.send(page, { method: 'POST', body, headers: { origin: 'http://localhost' } })

  expect(unapproved.path).toContain('unsent=payment_not_found')
  expect(await usdcOf(world, payee)).toBe(0n)
  expect((await paymentOf(world.db, transfer_id)).state).toBe('awaiting_confirmation')
})

test('approves for nobody but the key and the device that were shown', async () => {
  const { payer, transfer_id, page, browser } = await waiting()
  await browser.visit(page)
  const thief = await payer.withKey('pay')
  const stolen = await world.db.sql<{ terms: Record<string, string> }[]>`
    select jsonb_build_object('recipient', payee_alias, 'memo', memo) as terms
      from private.payments where id = ${transfer_id}`
  const { recipient, memo } = stolen[0]?.terms ?? {}
  const order = { recipient, memo, chain: 'base-sepolia', token: 'USDC', amount: '500' }
  await thief.post(path, { ...order, transfer_id }, { 'x-device-id': 'of a thief' })

  const shown = await browser.submit({ decision: 'approved' })
  const again = await browser.submit({ decision: 'approved' })

  expect(shown.text).toContain('Approve this payment?')
  expect(again.text).toContain('This payment was made')
})

test('takes an approval back while it is reserved and not signed', async () => {
  const { payer, page, transfer_id, repeat } = await waiting()
  const dying = world.worker({
    fetch: (input, init) =>
      new Request(input).url.includes('custody_record')
        ? Promise.reject(new Error('killed'))
        : fetch(input, init),
  })
  const browser = await signedIn({ ...world, world: dying.world }, payer)
  await browser.visit(page)
  const approved = await browser.submit({ decision: 'approved' })

  const list = await browser.visit('/web/approvals')
  await browser.visit(page)
  const unsure = await browser.submit({ decision: 'declined' })
  const done = await browser.submit({ decision: 'declined', sure: 'yes' })

  expect(unsure.text).toContain('Nothing has changed.')
  expect(approved.text).toContain('Approved, not sent yet')
  expect(list.html).toContain(transfer_id)
  expect(done.text).toContain('You declined this payment')
  expect((await repeat()).body).toMatchObject({ error: 'payment_closed' })
})

test('declines, and says so to whoever comes back', async () => {
  const { page, repeat, browser } = await waiting()
  await browser.visit(page)

  const done = await browser.submit({ decision: 'declined' })

  expect(done.text).toContain('You declined this payment')
  expect(await repeat()).toMatchObject({ body: { error: 'payment_closed' } })
})

test('marks where an imitation differs from the address that is known', async () => {
  const known = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
  const { payer } = await waiting()
  await world.acquaint(payer, known)
  const recipient = `0x7099${'0'.repeat(32)}79c8`
  const order = { recipient, chain: 'base-sepolia', token: 'USDC', amount: '1' }
  const { confirmation } = asking.parse((await payer.post(path, order)).body)

  const shown = await (await signedIn(world, payer)).visit(new URL(confirmation.url).pathname)

  expect(shown.text).toContain('This address imitates one that you trust')
  expect(shown.html).toContain('<span><mark>0000</mark></span>')
  expect(shown.html).not.toMatch(/<mark>79[cC]8<\/mark>/)
})

test('opening a link changes nothing, however it is opened and by whom', async () => {
  const { page, transfer_id, browser } = await waiting()
  const before = await paymentOf(world.db, transfer_id)

  for (const method of ['GET', 'HEAD']) {
    for (const query of ['', '?decision=approved']) await browser.send(page + query, { method })
  }

  expect(await paymentOf(world.db, transfer_id)).toEqual(before)
  const [{ count } = { count: -1 }] = await world.db.sql<{ count: number }[]>`
    select count(*)::integer as count from private.approvals where payment = ${transfer_id}`
  expect(count).toBe(0)
})

test("a stranger's link answers as one that never was", async () => {
  const { page } = await waiting()
  const { browser } = await waiting()
  const nothing = page.replace(/[0-9a-f]{12}$/, '000000000000')

  const texts = []
  for (const link of [page, nothing, '/web/approve/x']) {
    const { status, text } = await browser.visit(link)
    texts.push({ status, text: text.replace(/Request .*/, '') })
  }

  expect(texts[0]).toMatchObject({ status: 404 })
  expect(texts[1]).toEqual(texts[0])
  expect(texts[2]).toEqual(texts[0])
})

test('an expired link says so and offers nothing', async () => {
  const { page, payer } = await waiting()
  await world.tick(86_401)

  const shown = await (await signedIn(world, payer)).visit(page)

  expect(shown.text).toContain('This request has expired')
  expect(shown.html).not.toContain('value="approved"')
})

test('asks for a proof before it approves, and not before it declines', async () => {
  const { page, browser } = await waiting()
  await world.tick(11 * 60)
  await browser.visit(page)

  const asked = await browser.submit({ decision: 'approved' })
  await browser.visit(page)
  const declined = await browser.submit({ decision: 'declined' })

  expect(asked.path).toBe(`/web/proof?next=${encodeURIComponent(page)}`)
  expect(declined.text).toContain('You declined this payment')
})

test('lists what waits, and declines all of it at once', async () => {
  const { page, browser, transfer_id } = await waiting()

  const listed = await browser.visit('/web/approvals')
  const unsure = await browser.submit({}, '/web/approvals')
  const done = await browser.submit({ sure: 'yes' }, '/web/approvals')

  expect(listed.html).toContain(page)
  expect(unsure.html).toContain(page)
  expect(done.text).toContain('Nothing is waiting for you')
  expect((await paymentOf(world.db, transfer_id)).state).toBe('declined')
})
