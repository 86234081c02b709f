/**
 * When one account has 300 unreadable payments on every rail, the booking of another account's payment
 * waits for at most one run of housekeeping.
 */
import { beforeEach, expect, test } from 'vitest'
import { runHousekeeping } from '../../shared/payments/settle/housekeeping.ts'
import { hex, newKey } from '../support/chain-world.ts'
import type { Timeline } from '../support/deadlines.ts'
import { openTimeline } from '../support/deadlines.ts'
import { sendAs } from '../support/deposits.ts'
import { pass } from '../support/faults/chain.ts'
import { acquainted, statesOf } from '../support/ledger.ts'
import { authorizing, signedPayment } from '../support/signed.ts'
import type { Agent, TestWorld } from '../support/world.ts'
import { finalize, start } from '../support/world.ts'

/** Time for which a run waits for relayers before it looks at payments. */
const stageMilliseconds = 10_000

let world: TestWorld
let busy: Agent
let payer: Agent
let payee: Agent
beforeEach(async () => {
  world = await start({ chain: true })
  busy = (await acquainted(world)).payer
  await crowd()
  const pair = await acquainted(world)
  payer = pair.payer
  payee = pair.payee
})

/** Signs 300 payments of one account: authorizations of purchases and of transfers, and permits. */
async function crowd() {
  const permit = {
    transfer_method: 'permit2',
    scheme: 'exact',
    requirement: { extra: { facilitatorAddress: newKey().at } },
  }
  const purchase = await signedPayment(world, busy, newKey().at)
  const request = await authorizing(world, busy, newKey().at, permit)
  const answer = await world.world.custody?.authorize(request)
  if (answer?.outcome !== 'signed') throw new Error('not signed')
  const copies = [
    [purchase.paymentId, 'x402', 100],
    [purchase.paymentId, 'transfer', 100],
    [request.paymentId, 'x402', 98],
  ] as const
  for (const [at, [payment, kind, count]] of copies.entries()) {
    await world.db.sql`
      insert into private.payments (account, key, device, kind, state, chain, token, wallet, payee,
        amount_atomic, amount_usd_micros, expires_at, consent_level, authorized_at,
        authorized_block, valid_before, authorization_nonce, signature, terms, leased_until)
      select account, key, device, ${kind}, state, chain, token, wallet, payee, amount_atomic,
        amount_usd_micros, expires_at, consent_level, authorized_at, authorized_block, valid_before,
        '0x' || lpad(to_hex(${at} * 1000 + n), 64, '0'), signature, terms, private.clock()
        from private.payments, generate_series(1, ${count}) n where id = ${payment}`
  }
}

type Silence = (body: string, signal: AbortSignal) => Promise<never>

const forGood: Silence = () => new Promise(() => {})

/** Leaves requests about the busy account, and those whose body contains a text of `also`, unanswered. */
function hang(also: string[] = [], silence = forGood): void {
  const { fetch } = world.world
  const wallet = busy.address.slice(2).toLowerCase()
  world.world.fetch = (input, init) => {
    const body = typeof init?.body === 'string' ? init.body : ''
    const isLost = body.toLowerCase().includes(wallet) || also.some((word) => body.includes(word))
    return isLost && init?.signal ? silence(body, init.signal) : fetch(input, init)
  }
}

/** Puts the deadlines of later runs on a clock of their own. */
function timed(): Timeline {
  const timeline = openTimeline()
  world.world.deadline = timeline.deadline
  return timeline
}

/** Starts a run and returns once the other account's payment has this state. */
async function runUntil(state: string): Promise<string[]> {
  runHousekeeping(world.world).catch(() => undefined)
  await expect.poll(() => statesOf(world, payer)).toEqual([state])
  return statesOf(world, payer)
}

async function spend(): Promise<void> {
  const { calldata } = await signedPayment(world, payer, payee.address)
  await sendAs(world, newKey().at, hex(calldata))
  // The lease of the worker that drives the payment lasts this long.
  await world.tick(46)
}

test('a payment that was used is settled by the first run', async () => {
  await spend()
  hang()

  expect(await runUntil('settled')).toEqual(['settled'])
})

test('a payment that ended unused is released by the first run', async () => {
  await signedPayment(world, payer, payee.address)
  await pass(world, 1_800)
  await finalize(world.chain)
  hang()

  expect(await runUntil('released')).toEqual(['released'])
})

test('a payment is settled while nothing is heard of lanes', async () => {
  await spend()
  const timeline = timed()
  hang(['eth_getTransactionCount'], (body, signal) => {
    if (body.includes('eth_getTransactionCount')) timeline.moveTo(stageMilliseconds)
    return forGood(body, signal)
  })

  expect(await runUntil('settled')).toEqual(['settled'])
})

test('a run that reaches its end leaves what it did not look at, and the next settles', async () => {
  const timeline = timed()
  hang([], (_, signal) => timeline.waitFor(signal))
  await world.tick(46)
  const first = await runHousekeeping(world.world)
  await spend()
  hang()

  expect(first.seen).toBeGreaterThan(0)
  expect(first.seen).toBeLessThan(300)
  expect(await runUntil('settled')).toEqual(['settled'])
})
