/** A reserved payment is not signed once its permission is taken back before the signature. */
import { beforeAll, expect, test } from 'vitest'
import * as z from 'zod'
import { appWith, keyWith } from '../support/capped.ts'
import { secure } from '../support/house.ts'
import { usdcOf } from '../support/ledger.ts'
import { giveMandate } from '../support/mandates.ts'
import { ownerOf, paymentOf, type TestOwner } from '../support/owner.ts'
import { type Agent, start, type TestWorld } from '../support/world.ts'

const transferred = z.looseObject({ transfer_id: z.uuid() })

let world: TestWorld
beforeAll(async () => {
  world = await start({ chain: true })
})

/** A payment that would pass, and the act that takes back its permission. */
type Story = { payer: Agent; order: Record<string, unknown>; deed: () => Promise<unknown> }
type Telling = (of: { account: Agent; payee: Agent; owner: TestOwner }) => Promise<Story>

const order = (payee: Agent, amount: string) => ({
  chain: 'base-sepolia',
  token: 'USDC',
  amount,
  recipient: payee.address,
})

const keyEnds: Telling = async ({ account, payee, owner }) => {
  const payer = await keyWith(world, account)
  const deed = () => owner.call('owner_revoke_key', { key: payer.holder })
  return { payer, order: order(payee, '100'), deed }
}

const appEnds: Telling = async ({ account, payee, owner }) => {
  const payer = await appWith(world, account)
  const deed = () => owner.call('owner_disconnect_apps', { app: payer.holder })
  return { payer, order: order(payee, '100'), deed }
}

const underMandate =
  (deedOf: (mandate: string, told: { account: Agent; owner: TestOwner }) => Promise<unknown>) =>
  async ({ account, payee, owner }: Parameters<Telling>[0]): Promise<Story> => {
    const { id } = await giveMandate(world, account, { pay_to: [payee.address] })
    const deed = () => deedOf(id, { account, owner })
    return { payer: account, order: order(payee, '5'), deed }
  }

const byApproval =
  (deedOf: (payment: string, owner: TestOwner) => Promise<unknown>) =>
  async ({ account, payee, owner }: Parameters<Telling>[0]): Promise<Story> => {
    const wish = { ...order(payee, '500'), user_confirmed: true }
    const asked = await account.post('/wallet-custodial-transfer', wish)
    const { transfer_id } = transferred.parse(asked.body)
    await owner.decide(transfer_id, 'approved')
    const deed = () => deedOf(transfer_id, owner)
    return { payer: account, order: { ...wish, transfer_id }, deed }
  }

const stories: [string, Telling][] = [
  ['its key is revoked', keyEnds],
  ['its app is disconnected', appEnds],
  [
    'the account is frozen',
    async (of) => {
      const story = await keyEnds(of)
      return { ...story, deed: () => of.account.post('/account-freeze', {}) }
    },
  ],
  [
    'the agent revokes its mandate',
    underMandate((mandate_id, { account }) =>
      account.post('/payment-mandate-revoke', { mandate_id }),
    ),
  ],
  [
    'the owner revokes its mandate',
    underMandate((mandate, { owner }) => owner.call('owner_revoke_mandate', { mandate })),
  ],
  [
    'its mandate is suspended',
    underMandate((mandate, { owner }) =>
      owner.call('owner_suspend_mandate', { mandate, suspended: true }),
    ),
  ],
  ['its approval is taken back', byApproval((payment, owner) => owner.decide(payment, 'declined'))],
  ['all is declined', byApproval((_, owner) => owner.call('owner_decline_all'))],
  ['the account is secured', byApproval((_, owner) => secure(owner))],
]

/** Returns an isolate whose custody signs, and then cannot store the signature before `until`. */
function slowCustody(until: Promise<void>) {
  const { promise: isReserved, resolve } = Promise.withResolvers<void>()
  const slow = world.worker({
    fetch: async (input, init) => {
      if (new Request(input).url.includes('custody_record')) {
        resolve()
        await until
      }
      return fetch(input, init)
    },
  })
  return { slow, isReserved }
}

async function openHouse() {
  const account = await world.agent('full', { usdc: 2000 })
  const payee = await world.agent('read')
  await world.db.sql`insert into private.owners (account, email, password_hash)
    values (${account.id}, ${`${account.alias}@people.example`}, 'a hash')`
  await world.acquaint(account, payee.address)
  return { account, payee, owner: await ownerOf(world, account) }
}

async function idOf({ id }: Agent): Promise<string> {
  const [row] = await world.db.sql`select id from private.payments where account = ${id}
    and consent_level is not null`
  return String(row?.['id'])
}

test.each(stories)('%s: what is just being signed is not kept', async (_, tell) => {
  const house = await openHouse()
  const { payer, order: wish, deed } = await tell(house)
  const { promise: isDone, resolve: done } = Promise.withResolvers<void>()
  const { slow, isReserved } = slowCustody(isDone)
  const paying = slow.post(payer, '/wallet-custodial-transfer', wish)
  await isReserved

  const answer = await deed()
  done()
  const paid = await paying

  expect(answer).not.toHaveProperty('refused')
  expect(paid.status).not.toBe(200)
  const { state, signature } = await paymentOf(world.db, await idOf(house.account))
  expect({ isOver: ['released', 'declined'].includes(state), signature }).toEqual({
    isOver: true,
    signature: null,
  })
  expect(await usdcOf(world, house.payee)).toBe(0n)
})

test.each(stories.filter(([name]) => /approval|declined/.test(name)))(
  '%s: what custody died over is not paid by a later call',
  async (_, tell) => {
    const house = await openHouse()
    const { payer, order: wish, deed } = await tell(house)
    const dying = world.worker({
      fetch: (input, init) =>
        new Request(input).url.includes('custody_record')
          ? Promise.reject(new Error('killed'))
          : fetch(input, init),
    })
    await dying.post(payer, '/wallet-custodial-transfer', wish)
    await world.tick(25)

    const answer = await deed()
    const after = await payer.post('/wallet-custodial-transfer', wish)

    expect(answer).not.toHaveProperty('refused')
    expect(after).toMatchObject({
      status: 409,
      body: { error: 'payment_closed', details: { confirmation: { status: 'declined' } } },
    })
    expect(await usdcOf(world, house.payee)).toBe(0n)
  },
)
