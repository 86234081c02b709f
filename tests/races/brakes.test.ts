/** However busy an account's keys are, an act that ends what may pay does not wait for them. */
import postgres from 'postgres'
import { beforeAll, expect, test } from 'vitest'
import { credentialOf } from '../../shared/auth/api-key.ts'
import { appWith, keyWith } from '../support/capped.ts'
import { atEnd } from '../support/ending.ts'
import { acquainted } from '../support/ledger.ts'
import { giveMandate } from '../support/mandates.ts'
import { ownerOf } from '../support/owner.ts'
import { authorizing } from '../support/signed.ts'
import type { Agent, TestWorld } from '../support/world.ts'
import { pepper, start } from '../support/world.ts'

const connections = 12

let world: TestWorld
beforeAll(async () => {
  world = await start({ chain: true, connections })
})

async function nothing(payer: Agent) {
  return { payer, args: {} }
}

async function oneKey(account: Agent) {
  const payer = await keyWith(world, account)
  return { payer, args: { key: payer.holder } }
}

async function oneApp(account: Agent) {
  const payer = await appWith(world, account)
  return { payer, args: { app: payer.holder } }
}

async function oneMandate(payer: Agent) {
  const { id } = await giveMandate(world, payer)
  return { payer, args: { mandate: id } }
}

test.each([
  ['owner_revoke_key', oneKey],
  ['owner_disconnect_apps', oneApp],
  ['owner_revoke_mandate', oneMandate],
  ['owner_decline_all', nothing],
] as const)('%s waits for no payment that is just being entered', async (deed, of) => {
  const { payer: account, payee } = await acquainted(world)
  const { payer, args } = await of(account)
  const owner = await ownerOf(world, account)
  const credential = await credentialOf(payer.key, pepper)

  const answer = await world.db.sql.begin(async (session) => {
    await session`insert into private.payments (account, key, device, kind, chain, token, wallet,
        payee, amount_atomic, amount_usd_micros, expires_at)
      select k.account, k.id, 'device', 'x402', 84532, ${world.chain.usdc}, ${account.address},
        ${payee.address}, 1, 1, private.clock() + interval '1 hour'
        from private.find_caller(${credential}) k`
    return owner.call(deed, args)
  })

  expect(answer).toHaveLength(1)
})

test('a freeze waits for no payment that is just being entered', async () => {
  const { payer, payee } = await acquainted(world)
  const credential = await credentialOf(payer.key, pepper)

  const frozen = await world.db.sql.begin(async (session) => {
    await session`select from api.begin_payment(${credential}, 'x402', 'device', 84532,
      ${world.chain.usdc}, '1', '1', '{"origin":"https://shop.example"}', 600, ${payee.address})`
    return payer.post('/account-freeze', {})
  })

  expect(frozen.status).toBe(200)
})

test('a freeze comes before those who stand in line to pay', async () => {
  const { payer, payee } = await acquainted(world)
  const requests = await Promise.all(
    Array.from({ length: connections - 2 }, () => authorizing(world, payer, payee.address)),
  )
  const { custody } = world.world
  if (!custody) throw new Error('the world has no custody')
  const session = postgres(world.db.url, { max: 1, onnotice() {} })
  atEnd(() => session.end({ timeout: 1 }))
  const waiting = async (count: number) => {
    const rows = () => world.db.sql`select from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`
    await expect.poll(async () => (await rows()).length).toBe(count)
  }

  let line: Promise<unknown>[] = []
  let frozen: Promise<{ status: number }> | undefined
  await session.begin(async (holding) => {
    await holding`select private.hold_account(${payer.id})`
    line = requests.map((request) => Promise.resolve(custody.authorize(request)))
    await waiting(requests.length)
    frozen = payer.post('/account-freeze', {})
    await waiting(requests.length + 1)
  })

  const value = { outcome: 'refused', code: 'account_frozen' }
  const refused = { status: 'fulfilled', value }
  const answers = await Promise.allSettled(line)
  const after = answers.filter((answer) => JSON.stringify(answer) === JSON.stringify(refused))
  expect((await frozen)?.status).toBe(200)
  // One request waited for the account together with the freeze, and may have come first.
  expect(after.length).toBeGreaterThanOrEqual(requests.length / 2)
})
