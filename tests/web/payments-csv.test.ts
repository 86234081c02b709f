/** The export of payments and deposits, which a bookkeeper adds up. */
import { beforeAll, expect, test } from 'vitest'
import { exportedMax, paymentsCsv } from '../../functions/web/activity/activity-csv.ts'
import { indexTransfers } from '../../shared/payments/deposits/index-transfers.ts'
import { resolveAll } from '../support/books.ts'
import { type Browser, signedIn } from '../support/browserless.ts'
import { newKey } from '../support/chain-world.ts'
import { payAs } from '../support/deposits.ts'
import { usdcOf } from '../support/ledger.ts'
import { enterPayment } from '../support/payment-rows.ts'
import { start } from '../support/world.ts'

const world = await start({ chain: true })
beforeAll(async () => {
  await indexTransfers(world.world)
})

/** Reads the file as records; no cell of these tests holds a line break. */
async function recordsOf(browser: Browser, query = '') {
  const file = await browser.send(`/web/payments.csv${query}`)
  const [head = [], ...lines] = file.html
    .replace('\ufeff', '')
    .trim()
    .split('\r\n')
    .map((line) => line.split(/","|"?,"|"/).filter((_, at) => at > 0 || !line.startsWith('"')))
  const names = head.length === 1 ? (head[0] ?? '').split(',') : head
  return lines.map((cells) => Object.fromEntries(names.map((name, at) => [name, cells[at] ?? ''])))
}

test('the column of values adds up to what the chain shows in the wallet', async () => {
  const [payer, payee] = [await world.agent('pay'), await world.agent('read')]
  await payAs(world, newKey().at, payer.address, 750_250_000n)
  await indexTransfers(world.world)
  await world.acquaint(payer, payee.address)
  const order = { recipient: payee.alias, chain: 'base-sepolia', token: 'USDC' }
  for (const amount of ['12.5', '0.333333', '500']) {
    await payer.post('/wallet-custodial-transfer', { ...order, amount, memo: '=SUM(A1)' })
  }
  await resolveAll(world)
  await enterPayment(world, payer, { nth: 1, at: world.world.now(), state: 'declined' })

  const rows = await recordsOf(await signedIn(world, payer))
  const sumMicros = rows.reduce((sum, { usd_value = '' }) => sum + Math.round(+usd_value * 1e6), 0)

  expect(BigInt(sumMicros)).toBe(await usdcOf(world, payer))
  const told = rows.map(({ direction, state, amount }) => `${direction} ${state} ${amount}`)
  expect(told.toSorted()).toEqual([
    'in paid 750.25',
    'out not_paid -1',
    'out paid -0.333333',
    'out paid -12.5',
    'out waiting -500',
  ])
  const paid = rows.find(({ amount }) => amount === '-12.5')
  expect(paid).toMatchObject({
    counterparty: payee.alias,
    address: payee.address,
    agent: 'pay',
    consent: 'without asking',
    note: "'=SUM(A1)",
    token: 'USDC',
    network: 'Base Sepolia',
  })
  expect(paid?.['time']).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/)
})

test('the file holds what the filters of the page select, beyond one page', async () => {
  const agent = await world.agent('pay')
  for (let nth = 1; nth <= 30; nth += 1) {
    const at = new Date(world.world.now().getTime() - nth * 60_000)
    await enterPayment(world, agent, { nth, at, memo: nth % 3 === 0 ? 'lamp' : 'chair' })
  }
  const browser = await signedIn(world, agent)

  const [all, lamps] = [await recordsOf(browser), await recordsOf(browser, '?q=lamp')]

  expect([all.length, lamps.length]).toEqual([30, 10])
  expect(new Set(all.map(({ payment_id }) => payment_id)).size).toBe(30)
})

test('a file that is cut says so in its last line', async () => {
  const { config } = world.world
  const deposit = {
    id: '00000000-0000-4000-8000-000000000000',
    chain: 84532,
    token: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
    amount_atomic: 1n,
    sender: `0x${'ab'.repeat(20)}`,
    sender_alias: null,
    tx_hash: `0x${'cd'.repeat(32)}`,
    flag: null,
    finality: 'finalized',
  } as const
  const nothing = { summary: null, payment: null, untrusted: null, mandate: null, entry: null }
  const row = {
    ...nothing,
    mail: null,
    agent: null,
    is_approved: false,
    label: null,
    deposit,
    type: 'received',
    id: '1',
    at: '2026-03-01T00:00:00Z',
    category: 'deposit' as const,
  }

  const [whole, cut] = [exportedMax, exportedMax + 1].map((length) =>
    new TextDecoder().decode(
      paymentsCsv(
        Array.from({ length }, () => row),
        config,
      ),
    ),
  )

  expect(whole).not.toContain('Only the newest')
  expect(cut?.trim().split('\r\n').at(-1)).toContain('Only the newest 5000 lines are included')
  expect(cut?.trim().split('\r\n')).toHaveLength(exportedMax + 2)
})
