/** The activity shows one row for each payment, and the page of a payment tells its steps. */
import { expect, test } from 'vitest'
import { resolveAll } from '../support/books.ts'
import { signedIn } from '../support/browserless.ts'
import { waitingTransfer } from '../support/waiting-transfer.ts'
import { finalize, start } from '../support/world.ts'

const world = await start({ chain: true })
const transfer = { chain: 'base-sepolia', token: 'USDC' }

const paymentLinks = (html: string) => [...html.matchAll(/href="(\/web\/payment\/[^"]+)"/g)]

async function latestStep(payment: unknown): Promise<string> {
  const [row] = await world.db.sql`select latest_step_at::text as at from private.payments
    where id = ${String(payment)}`
  return String(row?.['at'])
}

test('a payment that was asked for, approved and sent is one row, and its page tells each step', async () => {
  const { payee, page, transfer_id, browser } = await waitingTransfer(world)
  await browser.visit(page)
  await browser.submit({ decision: 'approved' })

  const feed = await browser.visit('/web/activity')
  const shown = await browser.visit(`/web/payment/${transfer_id}`)

  expect(paymentLinks(feed.html).map(([, path]) => path)).toEqual([`/web/payment/${transfer_id}`])
  expect(feed.text).toContain(`Today`)
  expect(feed.text).toMatch(
    new RegExp(`To ${payee.alias} −500\\.00 USDC \\d\\d:\\d\\d UTC Transfer by pay Paid`),
  )
  expect(shown.text).toMatch(
    /Requested by pay .* Needed your approval .* Approved by you .* Sent .* In block \d+/,
  )
  expect(shown.html).toContain(`/address/${payee.address}"`)
  expect(shown.html).toMatch(/href="https:\/\/sepolia\.basescan\.org\/tx\/0x[0-9a-f]{64}"/)
  expect(shown.html).toContain(`href="/web/approve/${transfer_id}/receipt"`)
})

test('a payment whose block is final says so, where it stood', async () => {
  const [payer, payee] = [await world.agent('pay', { usdc: 50 }), await world.agent('read')]
  await world.acquaint(payer, payee.address)
  const order = { ...transfer, recipient: payee.alias, amount: '12.5' }
  const sent = await payer.post('/wallet-custodial-transfer', { ...order, memo: '<b>Rent</b>' })
  const { transfer_id } = sent.body
  const settled = await payer.post('/transfer-status', { transfer_id })
  const stood = await latestStep(transfer_id)
  await finalize(world.chain)
  await world.tick(60)
  await resolveAll(world)
  const browser = await signedIn(world, payer)
  const [row] = await world.db.sql`select id from private.activities where account = ${payer.id}
    and payment = ${String(transfer_id)}`

  const page = await browser.visit(`/web/activity/${String(row?.['id'])}`)
  const proof = await browser.visit(`/web/activity/${String(row?.['id'])}/proof.json`)

  expect(await latestStep(transfer_id)).toBe(stood)
  expect(page.path).toBe(`/web/payment/${String(transfer_id)}`)
  expect(page.text).toContain('Transfer of 12.50 USDC')
  expect(page.text).toContain('Paid, final')
  expect(page.text).toMatch(/Sent .* In block \d+ .* Final: the network cannot reverse it/)
  expect(page.text).toContain('Within the limit for payments without asking')
  expect(page.text).toContain('Text from others')
  expect(page.html).toContain('&lt;b&gt;Rent&lt;/b&gt;')
  expect(JSON.parse(proof.html)).toMatchObject({
    proof: { tx_hash: settled.body['tx_hash'], from: payer.address, to: payee.address },
  })
})

test('a payment that was declined says why, has no proof, and is struck out in the list', async () => {
  const { page, transfer_id, browser } = await waitingTransfer(world)
  const waiting = await browser.visit(`/web/payment/${transfer_id}`)
  await browser.visit(page)
  await browser.submit({ decision: 'declined', reason: 'Too much.' })

  const shown = await browser.visit(`/web/payment/${transfer_id}`)
  const feed = await browser.visit('/web/activity')

  expect(waiting.html).toContain(`href="${page}"`)
  expect(shown.text).toContain('Nothing was paid')
  expect(shown.text).toContain('You told the agent: “Too much.”')
  expect(shown.text).toMatch(/Needed your approval .* Declined by you/)
  expect((await browser.send(`/web/payment/${transfer_id}/proof.json`)).status).toBe(404)
  expect(feed.html).toMatch(/<s>−\s*500\.00/)
})

test("somebody else's payment looks like one that does not exist", async () => {
  const { transfer_id } = await waitingTransfer(world)
  const browser = await signedIn(world, await world.agent('read'))

  const missing = await browser.visit('/web/payment/00000000-0000-4000-8000-000000000000')
  for (const path of [transfer_id, `${transfer_id}/proof.json`, 'x']) {
    const page = await browser.visit(`/web/payment/${path}`)
    expect(page.status).toBe(404)
    expect(page.text.replace(/Request .*/, '')).toBe(missing.text.replace(/Request .*/, ''))
  }
})

test('a quote that nobody was asked about is not listed', async () => {
  const agent = await world.agent('pay')
  await world.db.sql`insert into private.payments (account, key, device, kind, chain, token, wallet,
      payee, amount_atomic, amount_usd_micros, expires_at)
    select ${agent.id}, k.id, 'test', 'x402', 84532, '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
      ${agent.address}, ${`0x${'ab'.repeat(20)}`}, 1, 1, private.clock()
    from private.credentials k where k.account = ${agent.id}`
  await world.db.sql`select api.housekeeping_close_unused(100)`

  const page = await (await signedIn(world, agent)).visit('/web/activity')

  expect(paymentLinks(page.html)).toEqual([])
})

test('a payment that was refused is listed with the limit that it was over', async () => {
  const [payer, payee] = [await world.agent('pay', { usdc: 50 }), await world.agent('read')]
  await world.db.sql`update private.accounts set daily_spending_cap_usd_micros = 10000000
    where id = ${payer.id}`
  const order = { ...transfer, recipient: payee.alias, amount: '12.5' }
  const refused = await payer.post('/wallet-custodial-transfer', order)
  const browser = await signedIn(world, payer)

  const feed = await browser.visit('/web/activity?state=not_paid')
  const [[, path = ''] = []] = paymentLinks(feed.html)
  const shown = await browser.visit(path)
  await world.tick(86_400)
  await world.db.sql`select api.housekeeping_close_unused(100)`
  const later = await (await signedIn(world, payer)).visit(path)

  expect(refused).toMatchObject({ status: 403, body: { error: 'limit_exceeded' } })
  expect(feed.text).toMatch(
    new RegExp(`To ${payee.alias} −12\\.50 USDC .* Transfer by pay Refused`),
  )
  expect(shown.text).toContain('The amount is over what is left of the daily spending cap.')
  expect(shown.text).toMatch(/Requested by pay .* Refused/)
  expect(later.text).toMatch(
    /Refused.* The amount is over what is left of the daily spending cap\./,
  )
})
