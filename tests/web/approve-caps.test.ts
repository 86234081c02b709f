/** An approved payment is sent within the caps and scope of the key or app that asked, and of its successor. */
import { beforeAll, expect, test } from 'vitest'
import * as z from 'zod'
import { credentialOf } from '../../shared/auth/api-key.ts'
import { signedIn } from '../support/browserless.ts'
import { appWith } from '../support/capped.ts'
import { usdcOf } from '../support/ledger.ts'
import { ownerOf } from '../support/owner.ts'
import { randomBytes } from '../support/seed.ts'
import { waitingTransfer } from '../support/waiting-transfer.ts'
import { pepper, start, type TestWorld } from '../support/world.ts'

const path = '/wallet-custodial-transfer'
let world: TestWorld
beforeAll(async () => {
  world = await start({ chain: true })
})
const asking = z.object({ confirmation: z.object({ url: z.url() }) })

const waiting = (amount = '500') => waitingTransfer(world, { amount })

test('a cap set on the key that replaced the asker holds for what the owner approves', async () => {
  const { payer, payee, page, browser } = await waiting()
  const owner = await ownerOf(world, payer)
  const [old] = await world.db.sql<{ id: string }[]>`select id from private.credentials
    where digest = ${await credentialOf(payer.key, pepper)}`
  const rotated = await owner.call('owner_rotate_key', {
    key: old?.id,
    digest: randomBytes(32).toString('hex'),
    shown: 'x',
    expires_in_days: 30,
    overlap_hours: 0,
  })
  const placed = z.array(z.object({ placed: z.uuid() })).parse(rotated)[0]?.placed
  const capped = await owner.call('owner_set_caps', {
    holder: placed,
    max_per_payment_usd_micros: '100000000',
    max_per_day_usd_micros: '100000000',
  })
  expect(capped).toMatchObject([{ outcome: 'lowered' }])
  await browser.visit(page)
  await browser.submit({ decision: 'approved' })
  expect(await usdcOf(world, payee)).toBe(0n)
})

test('two tabs and many sends at once pay once', async () => {
  const { payer, payee, page, browser, order, transfer_id } = await waiting()
  const other = await signedIn(world, payer)
  await browser.visit(page)
  await other.visit(page)
  const told = { ...order, transfer_id, user_confirmed: true }
  await Promise.all([
    browser.submit({ decision: 'approved' }),
    other.submit({ decision: 'approved' }),
    other.submit({ decision: 'send' }),
    payer.post(path, told),
    payer.post(path, { ...order, user_confirmed: true }),
  ])
  expect(await usdcOf(world, payee)).toBe(500_000_000n)
})

test('frozen meanwhile, nothing is sent; a revoked session sends nothing', async () => {
  const { payer, payee, page, browser } = await waiting('150')
  await browser.visit(page)
  await payer.post('/account-freeze', {})
  await browser.submit({ decision: 'approved' })
  expect(await usdcOf(world, payee)).toBe(0n)
  const two = await waiting('150')
  const owner = await ownerOf(world, two.payer)
  await owner.decide(two.transfer_id, 'approved')
  await two.browser.visit(two.page)
  await world.db
    .sql`update private.credentials set revoked_at = private.clock() where account = ${two.payer.id} and kind = 'session'`
  await two.browser.submit({ decision: 'send' })
  expect(await usdcOf(world, two.payee)).toBe(0n)
})

test('an app that ended by time and was let in again to look only has nothing paid for it', async () => {
  const payer = await world.agent('pay', { usdc: 2000 })
  const payee = await world.agent('read')
  const app = await appWith(world, payer)
  const order = { recipient: payee.alias, chain: 'base-sepolia', token: 'USDC', amount: '500' }
  const { confirmation } = asking.parse((await app.post(path, order)).body)
  await world.db
    .sql`update private.credentials set expires_at = private.clock() where id = ${app.holder}`
  // As private.begin_grant enters a grant in place of one that is over.
  await world.db
    .sql`insert into private.credentials (account, kind, label, shown, scopes, expires_at, shares_budget_of)
    values (${payer.id}, 'oauth', 'App', 'app.example', '{read}', private.clock() + interval '30 days', ${app.holder})`
  const browser = await signedIn(world, payer)
  await browser.visit(new URL(confirmation.url).pathname)
  await browser.submit({ decision: 'approved' })
  expect(await usdcOf(world, payee)).toBe(0n)
})
