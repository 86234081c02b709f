/** The list of what waits says what each payment is, takes the decision in the row, and counts itself. */
import { beforeAll, expect, test } from 'vitest'
import * as z from 'zod'
import { usdcOf } from '../support/ledger.ts'
import { askMandate } from '../support/mandates.ts'
import { paymentOf } from '../support/owner.ts'
import { addPasskey } from '../support/person.ts'
import { waitingTransfer } from '../support/waiting-transfer.ts'
import { anew } from '../support/wish.ts'
import { type Agent, start, type TestWorld } from '../support/world.ts'

const transfer = '/wallet-custodial-transfer'
const asking = z.object({ transfer_id: z.uuid() })
let world: TestWorld
beforeAll(async () => {
  world = await start({ chain: true })
})

/** Returns a waiting transfer to a recipient and from a device that the owner made known. */
async function plainTransfer() {
  const waiting = await waitingTransfer(world)
  await world.acquaint(waiting.payer, waiting.payee.address)
  return waiting
}

async function ask(payer: Agent, order: object): Promise<string> {
  return asking.parse((await payer.post(transfer, order)).body).transfer_id
}

test('a row names amount, payee, key and age, and its button pays', async () => {
  const { browser, payee, transfer_id, page } = await plainTransfer()
  await world.tick(5 * 60)

  const { text } = await browser.visit('/web/approvals')
  const done = await browser.submit({ decision: 'approved' }, page)

  expect(text).toMatch(
    new RegExp(
      `500\\.00 USDC ${payee.alias} on Base Sepolia The key “.*” \\(aoa_test_.*\\) 5 min ago`,
    ),
  )
  expect(text).not.toContain('The same payment is waiting')
  expect(done.text).toContain('This payment was made')
  expect((await paymentOf(world.db, transfer_id)).state).toBe('settled')
  expect(await usdcOf(world, payee)).toBe(500_000_000n)
})

test('a row is declined in place, and an old proof is asked for before its button pays', async () => {
  const { browser, payer, order, page, transfer_id } = await plainTransfer()
  const other = await ask(payer, { ...order, amount: '400' })
  await browser.visit('/web/approvals')
  await browser.submit({ decision: 'declined' }, page)
  await world.tick(11 * 60)
  await browser.visit('/web/approvals')

  const asked = await browser.submit({ decision: 'approved' }, `/web/approve/${other}`)

  expect((await paymentOf(world.db, transfer_id)).state).toBe('declined')
  expect(asked.path).toBe(`/web/proof?next=${encodeURIComponent(`/web/approve/${other}`)}`)
  expect((await paymentOf(world.db, other)).state).toBe('awaiting_confirmation')
})

test('equal payments are marked, whatever their notes say, until the paid one is ten minutes old', async () => {
  const { browser, payer, order, page } = await plainTransfer()
  await ask(payer, anew(order))
  await ask(payer, { ...order, amount: '501' })
  const marks = async () =>
    (await browser.visit('/web/approvals')).text.match(/The same payment is waiting/g)?.length ?? 0

  const both = await marks()
  const twin = await browser.visit(page)
  await browser.submit({ decision: 'approved' })
  const paid = await marks()
  await world.tick(11 * 60)
  const later = await marks()

  expect([both, paid, later]).toEqual([2, 1, 0])
  expect(twin.text).toContain('The same payment is waiting')
})

test('with a passkey, or for an address that imitates a known one, a row leads to its own page', async () => {
  const { browser, payer, payee, order, page } = await waitingTransfer(world)
  await world.acquaint(payer, payee.address)
  const imitation = `${payee.address.slice(0, 6)}${'ab'.repeat(16)}${payee.address.slice(-4)}`
  const poisoned = await ask(payer, { ...order, recipient: imitation.toLowerCase() })

  const plain = await browser.visit('/web/approvals')
  await addPasskey(browser)
  const withPasskey = await browser.visit('/web/approvals')

  expect(plain.html).toContain(`action="${page}"`)
  expect(plain.html).not.toContain(`action="/web/approve/${poisoned}"`)
  expect(plain.html).toContain(`href="/web/approve/${poisoned}"`)
  expect(withPasskey.html).not.toContain('value="approved"')
  expect(withPasskey.html).toContain(`href="${page}"`)
})

test('choosing fewer than two leads back to the list, with a sentence', async () => {
  const { browser } = await waitingTransfer(world)

  const answer = await browser.visit('/web/approve-batch')

  expect([answer.status, answer.path]).toEqual([200, '/web/approvals'])
  expect(answer.text).toContain('Select at least two waiting payments')
})

test('the number of what waits stands in the title and the navigation of every page', async () => {
  const { browser, payer, payee, order, page } = await waitingTransfer(world)
  await askMandate(world, payer)
  await payer.post(transfer, { ...order, recipient: payee.alias, amount: '0.50' })

  const shown = [await browser.visit('/web/limits'), await browser.visit(page)]
  await browser.submit({ decision: 'declined' })
  const less = await browser.visit('/web/limits')

  for (const { html } of shown) expect(html).toMatch(/<title>\(2\) /)
  expect(shown[0]?.text).toContain('Approvals 1 for you to decide Mandates 1 for you to decide')
  expect(less.html).toMatch(/<title>\(1\) Limits · /)
  expect(less.text).toContain('Approvals Mandates 1 for you to decide')
})
