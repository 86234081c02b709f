import { expect, test } from 'vitest'
import { balanceHistory, daysUpTo } from '../../functions/web/overview/account-charts.tsx'
import { signedIn } from '../support/browserless.ts'
import { start, userAgent } from '../support/world.ts'

const world = await start({ chain: true })
const transfer = { chain: 'base-sepolia', token: 'USDC' }

test('what was spent is shown against each limit, and what waits is told', async () => {
  const [payer, payee] = [await world.agent('pay', { usdc: 100 }), await world.agent('read')]
  await world.acquaint(payer, payee.address)
  const paid = { ...transfer, recipient: payee.alias, amount: '12.5' }
  await payer.post('/wallet-custodial-transfer', paid)
  const stranger = { ...transfer, recipient: `0x${'ab'.repeat(20)}`, amount: '13' }
  await payer.post('/wallet-custodial-transfer', stranger)

  const page = await (await signedIn(world, payer)).visit('/web')

  expect(page.text).toContain('Without asking 12.50 of 200.00 USD')
  expect(page.text).toContain('Daily spending cap 12.50 of 1,000.00 USD')
  expect(page.text).toContain('One payment is waiting for your approval')
  expect(page.text).toContain(`To ${payee.alias} −12.50 USDC`)
  expect(page.text).toMatch(
    /To 0x(ab){20} −13\.00 USDC [-\d :]+ UTC Transfer by pay Waiting for approval/i,
  )
})

test('what an agent may confirm itself waits for no owner', async () => {
  const payer = await world.agent('pay', { usdc: 100 })
  const payee = await world.agent('read')
  const order = { recipient: payee.alias, chain: 'base-sepolia', token: 'USDC', amount: '5' }
  const asked = await payer.post('/wallet-custodial-transfer', order)
  const browser = await signedIn(world, payer)

  const overview = await browser.visit('/web')
  const approvals = await browser.visit('/web/approvals')

  expect(asked.body).toMatchObject({ confirmation: { level: 'agent_asserted' } })
  expect(overview.text).not.toContain('for your approval')
  expect(approvals.text).toContain('Nothing is waiting for you.')
})

test('a spending cap of nothing is not called far above what was spent', async () => {
  const [payer, payee] = [await world.agent('pay', { usdc: 100 }), await world.agent('read')]
  await world.acquaint(payer, payee.address)
  await payer.post('/wallet-custodial-transfer', {
    ...transfer,
    recipient: payee.alias,
    amount: '5',
  })
  await world.db.sql`update private.accounts set daily_spending_cap_usd_micros = 0
    where alias = ${payer.alias}`

  const page = await (await signedIn(world, payer)).visit('/web')

  expect(page.text).toContain('The daily spending cap, 0.00 USD, lets nothing be paid.')
})

test('a chain that does not answer is named, and nothing is drawn from a part of the balance', async () => {
  const dead = await start({ rpcUrls: { 'eip155:84532': ['http://127.0.0.1:9'] } })

  const page = await (await signedIn(dead, await dead.agent('read'))).visit('/web')

  expect(page.status).toBe(200)
  expect(page.text).toContain('Base Sepolia did not answer in time')
  expect(page.text).toContain('A network did not answer, so this chart is not available')
})

test('a frozen account says so before anything else', async () => {
  const agent = await world.agent('pay')
  await agent.post('/account-freeze', {}, { 'user-agent': userAgent })

  const page = await (await signedIn(world, agent)).visit('/web')

  expect(page.text).toContain('This account is frozen')
})

test('the balance of a day is what is held now without what moved since', () => {
  const token = { address: '0xAA', symbol: 'USDC', decimals: 6 }
  const days = daysUpTo({ now: new Date('2026-03-01T00:30:00Z'), clock: undefined }, 3)
  const moved = [
    { day: '2026-02-28', chain: 1, token: '0xaa', atomic: 5_000_000n },
    { day: '2026-03-01', chain: 1, token: '0xaa', atomic: -2_000_000n },
    { day: '2026-03-01', chain: 2, token: '0xaa', atomic: 9_000_000n },
  ]

  const values = balanceHistory(days, [{ chain: 1, token, atomic: 7_000_000n }], moved, {
    ...world.world.config,
  })

  expect(days).toEqual(['2026-02-27', '2026-02-28', '2026-03-01'])
  expect(values).toEqual([4_000_000n, 9_000_000n, 7_000_000n])
})
