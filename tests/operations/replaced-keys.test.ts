/** The key that replaces another has what its owner gave, and nothing that was taken back or meant for the other. */
import { expect, test } from 'vitest'
import * as z from 'zod'
import { credentialOf } from '../../shared/auth/api-key.ts'
import { ownerOf } from '../support/owner.ts'
import { randomBytes } from '../support/seed.ts'
import { type Agent, pepper, start } from '../support/world.ts'

const world = await start({ chain: true })
const { sql } = world.db

/** Replaces the agent's key and returns the digest of the new one. */
async function replaceKey(agent: Agent, overlap_hours: number): Promise<string> {
  const owner = await ownerOf(world, agent)
  const [old] = await sql<{ id: string }[]>`
    select id from private.credentials where digest = ${await credentialOf(agent.key, pepper)}`
  const digest = randomBytes(32).toString('hex')
  const order = { key: old?.id, digest, shown: 'x', expires_in_days: 30, overlap_hours }
  await owner.call('owner_rotate_key', order)
  return digest
}

test('a device whose approval is taken back is unknown, also to the key that replaced its own', async () => {
  const payer = await world.agent('pay', { usdc: 2000 })
  const payee = await world.agent('read')
  const owner = await ownerOf(world, payer)
  const order = { chain: 'base-sepolia', token: 'USDC', recipient: payee.address, amount: '500' }
  const asked = { ...order, user_confirmed: true }
  const { body } = await payer.post('/wallet-custodial-transfer', asked)
  const id = z.uuid().parse(body['transfer_id'])
  const devices = () => sql`select key from private.known_devices where account = ${payer.id}`
  await owner.decide(id, 'approved', 'remember_device')
  await replaceKey(payer, 0)
  const known = await devices()

  await owner.decide(id, 'declined')

  expect(known).toHaveLength(2)
  expect(await devices()).toEqual([])
})

test('the answer of a replaced key is not told to the key that went on with its request', async () => {
  const payer = await world.agent('pay')
  const first = await credentialOf(payer.key, pepper)
  const second = await replaceKey(payer, 24)
  const operation = 'x402_payment_execute'
  const claim = async (credential: string) => {
    const [row] = await sql<{ outcome: string; body: string | null }[]>`select outcome, body
      from api.claim_idempotency(${credential}, 'pay', ${operation}, 'one', 'same')`
    return row
  }
  await claim(first)
  await world.tick(61)
  await claim(second)

  await sql`select api.keep_answer(${first}, ${operation}, 'one', 200, 'of the first')`
  await sql`select api.keep_answer(${first}, ${operation}, 'one')`

  expect(await claim(second)).toMatchObject({ outcome: 'running', body: null })
})
