/** Only the owner makes a recipient or device known; no payment of an agent does. */
import { beforeAll, describe, expect, test } from 'vitest'
import * as z from 'zod'
import { indexTransfers } from '../../shared/payments/deposits/index-transfers.ts'
import { proven } from '../support/ledger.ts'
import { feedOf, ownerOf, type TestOwner, type Tick } from '../support/owner.ts'
import { anew } from '../support/wish.ts'
import { type Agent, type Answer, finalize, start, type TestWorld } from '../support/world.ts'

const path = '/wallet-custodial-transfer'
const order = { chain: 'base-sepolia', token: 'USDC' }
const dust = '0.000001'

let world: TestWorld
beforeAll(async () => {
  world = await start({ chain: true })
})

async function household() {
  const payer = await world.agent('pay', { usdc: 2000 })
  return { payer, payee: await world.agent('read'), owner: await ownerOf(world, payer) }
}

const pay = (payer: Agent, recipient: string, amount: string, confirmed = false, more = {}) =>
  payer.post(path, { ...order, recipient, amount, user_confirmed: confirmed, ...more })

const codesOf = ({ body }: Answer) =>
  z
    .array(z.looseObject({ code: z.string() }))
    .parse(body['reasons'])
    .map(({ code }) => code)

async function settled(payer: Agent, answer: Answer): Promise<void> {
  expect(answer.body).toMatchObject({ status: 'submitted' })
  await proven(payer, answer.body['tx_hash'])
}

/** Sends a transfer that waits for the owner, approves it with these ticks, and completes it. */
async function approved(payer: Agent, owner: TestOwner, recipient: string, ...ticks: Tick[]) {
  const asked = await pay(payer, recipient, '500', true)
  const transfer_id = z.uuid().parse(asked.body['transfer_id'])
  expect(await owner.decide(transfer_id, 'approved', ...ticks)).toBe('approved')
  return { transfer_id, send: () => pay(payer, recipient, '500', true, { transfer_id }) }
}

async function knownTo({ id }: Agent) {
  const { sql } = world.db
  const recipients = await sql<{ address: string }[]>`
    select address from private.known_recipients where account = ${id}`
  const devices = await sql`select from private.known_devices where account = ${id}`
  return { recipients: recipients.map(({ address }) => address), devices: devices.length }
}

const nobody = { recipients: [], devices: 0 }

describe("an agent's word", () => {
  test('makes neither its payee nor its device known, whatever settles', async () => {
    const { payer, payee } = await household()

    await settled(payer, await pay(payer, payee.address, dust, true))
    const next = await pay(payer, payee.address, '150')

    expect(await knownTo(payer)).toEqual(nobody)
    expect(codesOf(next)).toEqual(expect.arrayContaining(['new_recipient', 'new_device']))
  })

  test('pays one new recipient its limit in 24 hours, in however many payments', async () => {
    const { payer, payee } = await household()
    const other = await world.agent('read')
    await settled(payer, await pay(payer, payee.address, '6', true))

    const more = await pay(payer, payee.address, '5', true)
    const rest = await pay(payer, payee.address, '4', true)
    const last = await pay(payer, payee.address, dust, true)
    const elsewhere = await pay(payer, other.address, '10', true)

    expect(more.body).toMatchObject({
      confirmation: { level: 'user_session' },
      reasons: [{ code: 'asserted_new_recipient_limit', headroom_usd: '4' }],
      windows: { asserted_new_recipient: { limit_usd: '10', left_usd: '4' } },
    })
    expect(more.body['would_pass']).toContainEqual({
      change: 'pay_less',
      user_confirmed: true,
      amount_usd: '4',
    })
    expect([rest, elsewhere].map(({ body }) => body['status'])).toEqual(Array(2).fill('submitted'))
    expect(codesOf(last)).toEqual(['asserted_new_recipient_limit'])

    await proven(payer, rest.body['tx_hash'])
    await finalize(world.chain)
    await indexTransfers(world.world)
    await world.tick(86_400 + 1_800)
    expect((await pay(payer, payee.address, '10', true)).body).toMatchObject({
      status: 'submitted',
    })
  })

  test('pays one new recipient no more than that when payments race', async () => {
    const { payer, payee } = await household()

    const raced = await Promise.all(
      Array.from({ length: 5 }, () => pay(payer, payee.address, '4', true, anew({}))),
    )

    const states = raced.map(({ body }) => body['status'])
    expect(states.filter((one) => one === 'submitted')).toHaveLength(2)
    expect(states.filter((one) => one === 'awaiting_confirmation')).toHaveLength(3)
  })

  test('makes no address the original of another: warnings compare with what the owner knows', async () => {
    const { payer } = await household()
    const real = '0x90F79bf6EB2c4f870365E785982E1f101E93b906'
    const vanity = `0x90f7${'0'.repeat(32)}b906`

    await settled(payer, await pay(payer, vanity, dust, true))
    const looked = await payer.post('/resolve-transfer-recipient', { recipient: real })
    const paid = await pay(payer, real, '5', true)

    expect(JSON.stringify(looked.body)).not.toContain('similar_recipient')
    await settled(payer, paid)
    await world.acquaint(payer, real)
    expect(codesOf(await pay(payer, vanity, dust, true))).toContain('similar_recipient')
  })
})

describe('what the owner removed', () => {
  test('stays removed, whatever becomes final or settles later', async () => {
    const { payer, payee, owner } = await household()
    await settled(payer, await pay(payer, payee.address, dust, true))
    const pending = await approved(payer, owner, payee.address)
    await owner.call('owner_forget_recipient', { address: payee.address })
    await world.db.sql`delete from private.known_devices where account = ${payer.id}`

    await settled(payer, await pending.send())
    await finalize(world.chain)
    await payer.post('/transfer-status', { transfer_id: pending.transfer_id })
    const next = await pay(payer, payee.address, '150')

    expect(await knownTo(payer)).toEqual(nobody)
    expect(codesOf(next)).toEqual(expect.arrayContaining(['new_recipient', 'new_device']))
  })

  test('stays removed though its approval said to remember it and settles later', async () => {
    const { payer, payee, owner } = await household()
    const ticks = ['remember_payee', 'remember_device'] as const
    const pending = await approved(payer, owner, payee.address, ...ticks)
    await owner.call('owner_forget_recipient', { address: payee.address })
    const [device] = await world.db.sql`select key, fingerprint from private.known_devices
      where account = ${payer.id}`
    await owner.call('owner_forget_device', { ...device })

    await settled(payer, await pending.send())
    await finalize(world.chain)
    await payer.post('/transfer-status', { transfer_id: pending.transfer_id })

    expect(await knownTo(payer)).toEqual(nobody)
  })
})

describe('an approval', () => {
  test('trusts nobody without a tick, however much is paid by it', async () => {
    const { payer, payee, owner } = await household()
    await settled(payer, await (await approved(payer, owner, payee.address)).send())

    expect(await knownTo(payer)).toEqual(nobody)
    expect((await pay(payer, payee.address, '150')).body['status']).toBe('awaiting_confirmation')
  })

  test.each<[Tick, Awaited<ReturnType<typeof knownTo>>, string]>([
    ['remember_payee', { recipients: ['payee'], devices: 0 }, 'new_device'],
    ['remember_device', { recipients: [], devices: 1 }, 'new_recipient'],
  ])('with %s makes that known and nothing else', async (tick, known, missing) => {
    const { payer, payee, owner } = await household()
    await settled(payer, await (await approved(payer, owner, payee.address, tick)).send())

    const { recipients, devices } = await knownTo(payer)
    expect({
      recipients: recipients.map((one) => one === payee.address && 'payee'),
      devices,
    }).toEqual(known)
    expect(codesOf(await pay(payer, payee.address, '1'))).toEqual([missing])
    expect(await feedOf(world.db, payer)).toContain('remembered')
  })

  test('with both ticks lets the next one pass, and not once it is taken back', async () => {
    const { payer, payee, owner } = await household()
    const ticks = ['remember_payee', 'remember_device'] as const
    const first = await approved(payer, owner, payee.address, ...ticks)

    expect((await pay(payer, payee.address, '1')).body).toMatchObject({ consent_level: 'none' })
    expect(await owner.decide(first.transfer_id, 'declined')).toBe('declined')

    expect(await knownTo(payer)).toEqual(nobody)
    expect((await pay(payer, payee.address, '1')).body['status']).toBe('awaiting_confirmation')
  })

  test('remembers no payee that imitates one that is known', async () => {
    const { payer, owner } = await household()
    await world.acquaint(payer, '0x90F79bf6EB2c4f870365E785982E1f101E93b906')
    const imitation = `0x90f7${'0'.repeat(32)}b906`
    const asked = await pay(payer, imitation, '1', true)

    const id = z.uuid().parse(asked.body['transfer_id'])
    expect(await owner.decide(id, 'approved', 'remember_payee')).toBe('similar')
    expect(await owner.decide(id, 'approved')).toBe('approved')
  })
})

describe('an approved payment', () => {
  test('is paid by the key that the page named, and another has to ask anew', async () => {
    const { payer, payee, owner } = await household()
    const other = await payer.withKey('full')
    const { transfer_id, send } = await approved(payer, owner, payee.address)

    const refused = await pay(other, payee.address, '500', true, { transfer_id })
    const unconfirmed = await pay(other, payee.address, '500', false, { transfer_id })

    expect(refused).toMatchObject({
      status: 409,
      body: { error: 'payment_closed', details: { reasons: [{ code: 'other_key' }] } },
    })
    expect(unconfirmed.body).toMatchObject({ error: 'payment_closed' })
    expect((await send()).body).toMatchObject({ status: 'submitted' })
  })

  test('is paid by any key where the owner ticked that', async () => {
    const { payer, payee, owner } = await household()
    const other = await payer.withKey('full')
    const { transfer_id } = await approved(payer, owner, payee.address, 'any_key')

    const sent = await pay(other, payee.address, '500', true, { transfer_id })

    expect(sent.body).toMatchObject({ status: 'submitted', consent_level: 'user_session' })
    expect(await knownTo(payer)).toEqual(nobody)
  })
})

test('each row of what is known points to a session of the owner, and by approval to the consent', async () => {
  const { payer, payee, owner } = await household()
  const other = await world.agent('read')
  await owner.call('owner_add_recipient', { address: other.address })
  await approved(payer, owner, payee.address, 'remember_payee', 'remember_device')

  const rows = await world.db.sql`
    select k.kind, c.digest is not null as consented, asked
      from (select session, consent, asked_by is not null as asked from private.known_recipients
        where account = ${payer.id}
        union all select session, consent, true from private.known_devices
        where account = ${payer.id}) r
      join private.credentials k on k.id = r.session
      left join private.consents c on c.id = r.consent order by consented`
  const byApproval = { kind: 'session', consented: true, asked: true }
  expect(rows).toEqual([
    { kind: 'session', consented: false, asked: false },
    byApproval,
    byApproval,
  ])
  const unpointed = world.db.sql`insert into private.known_recipients
    (account, chain_family, address) values (${payer.id}, 'evm', ${`0x${'1'.repeat(40)}`})`
  await expect(unpointed).rejects.toThrow('session')
})
