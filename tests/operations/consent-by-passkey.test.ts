/** Only a valid assertion by the account's passkey approves a payment, and the agent sees the outcome. */
import { beforeAll, expect, test } from 'vitest'
import * as z from 'zod'
import { paymentTerms, termsDigest } from '../../shared/consent/terms.ts'
import { passkeyOwnerOf } from '../support/consents.ts'
import { usdcOf } from '../support/ledger.ts'
import { textWith } from '../support/matching.ts'
import { ownerOf, paymentOf } from '../support/owner.ts'
import { start, type TestWorld } from '../support/world.ts'

let world: TestWorld
beforeAll(async () => {
  world = await start({ chain: true })
})

const path = '/wallet-custodial-transfer'
const order = { chain: 'base-sepolia', token: 'USDC', amount: '500', user_confirmed: true }

/** Sends a transfer above every limit on the agent's word, for an owner with a passkey. */
async function waiting() {
  const payer = await world.agent('full', { usdc: 2000 })
  const owner = await passkeyOwnerOf(world, payer)
  const payee = await world.agent('read')
  const body = { ...order, recipient: payee.address }
  const asked = await payer.post(path, body)
  const payment = z.uuid().parse(asked.body['transfer_id'])
  const digest = await termsDigest(paymentTerms(await paymentOf(world.db, payment)))
  const repeat = () => payer.post(path, { ...body, transfer_id: payment })
  return { payer, owner, payee, payment, digest, repeat }
}

test.each([
  ['for another origin', { origin: 'https://evil.example' }],
  ['for another host', { host: 'evil.example' }],
  ['whose holder was not verified', { isUserVerified: false }],
  ['that only the library would take', { clientData: { crossOrigin: true } }],
  ['over another challenge', { challenge: 'A'.repeat(43) }],
])('an assertion %s is no consent', async (_, fault) => {
  const { owner, digest } = await waiting()
  expect(await owner.assertion(digest, fault)).toBeUndefined()
  expect(await owner.assertion(digest)).toBeDefined()
})

test('an assertion over other terms approves nothing, and neither does one used before', async () => {
  const { owner, payment, digest } = await waiting()
  const other = await owner.assertion('ab'.repeat(32))
  const good = await owner.assertion(digest)
  expect([other, good]).not.toContain(undefined)

  expect(await owner.approve(payment, good)).toBe('approved')
  const again = await owner.call('owner_decide_payment', {
    payment,
    decision: 'approved',
    digest,
    assertion: good,
  })

  expect(again).toEqual({ refused: textWith('proof') })
})

test("another account's passkey is no consent here", async () => {
  const [mine, theirs] = [await waiting(), await waiting()]
  const assertion = await theirs.owner.assertion(mine.digest)
  expect(assertion).toBeDefined()

  const outcome = await mine.owner.approve(mine.payment, assertion)

  expect(outcome).toEqual({ refused: textWith('proof') })
})

test('an account with a passkey approves with nothing else', async () => {
  const { payer, payment } = await waiting()
  const session = await ownerOf(world, payer)

  expect(await session.decide(payment, 'approved')).toEqual({
    refused: textWith('passkey'),
  })
})

test('what the passkey approved is paid at its level', async () => {
  const { owner, payment, repeat, payee } = await waiting()
  await owner.approve(payment)

  expect((await repeat()).body).toMatchObject({
    status: 'submitted',
    consent_level: 'user_passkey',
  })
  await expect.poll(() => usdcOf(world, payee)).toBe(500_000_000n)
})

test('a payment whose consent does not hold is refused, released and told', async () => {
  const { payer, payee, owner, payment, repeat } = await waiting()
  await owner.approve(payment)
  const other = await owner.unverified('ab'.repeat(32))
  await world.db.sql`
    update private.consents set signature = ${z.object({ signature: z.string() }).parse(other).signature}
    where account = ${payer.id}`

  const [refused, again] = [await repeat(), await repeat()]

  expect(refused).toMatchObject({ status: 409, body: { error: 'consent_invalid' } })
  expect(again).toMatchObject({ status: 200, body: { status: 'released' } })
  const status = await payer.post('/transfer-status', { transfer_id: payment })
  expect(status.body).toMatchObject({ status: 'released' })
  const feed = await payer.get('/wallet-activity-list?limit=1')
  expect(feed.body).toMatchObject({
    items: [{ type: 'transfer_consent_invalid', status: 'released' }],
  })
  expect((await payer.post('/get-wallet-balances', {})).body).toMatchObject({
    reserved_usd: '0',
  })
  expect([await usdcOf(world, payer), await usdcOf(world, payee)]).toEqual([2_000_000_000n, 0n])
  expect(world.log).toContainEqual({ work: 'custody', payment, log: 'signature' })
})
