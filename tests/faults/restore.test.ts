/**
 * A service that is restored from a backup: what it paid since is read from the chain before it signs anything,
 * and nobody who was let in before the restore is let in after it.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { copyDatabase, loadDatabase, openCopy } from '../../scripts/backup/database-copy.ts'
import { openSealed, sealFile } from '../../scripts/backup/sealed-file.ts'
import { indexTransfers } from '../../shared/payments/deposits/index-transfers.ts'
import { reconcileBalances } from '../../shared/payments/deposits/reconcile.ts'
import { resolveAll } from '../support/books.ts'
import { inForm } from '../support/cases.ts'
import { usdcOf } from '../support/ledger.ts'
import { alarmsOf, isFrozen } from '../support/outflows.ts'
import { anew } from '../support/wish.ts'
import { type Agent, finalize, start, type TestWorld } from '../support/world.ts'

const directory = mkdtempSync(join(tmpdir(), 'aoa-backup-'))
const file = join(directory, 'backup')
const passphrase = 'a passphrase of the tests only'
afterAll(() => rmSync(directory, { recursive: true }))

const [payersCount, paymentsEach] = [inForm(3, 25), inForm(10, 40)]
const path = '/wallet-custodial-transfer'

let world: TestWorld
let payers: Agent[]
let payee: Agent
beforeAll(async () => {
  world = await start({ chain: true, gasPayers: 2 })
  // The index begins here, before any money comes in.
  await readChain()
  payee = await world.agent('read')
  payers = await Promise.all(
    Array.from({ length: payersCount }, () => world.agent('pay', { usdc: 100 })),
  )
  for (const payer of payers) await world.acquaint(payer, payee.address)
})

function pay(payer: Agent) {
  const order = { recipient: payee.alias, chain: 'base-sepolia', token: 'USDC', amount: '0.5' }
  return payer.post(path, anew({ ...order, user_confirmed: true }))
}

async function payOften(payer: Agent, times: number): Promise<void> {
  for (let nth = 0; nth < times; nth += 1) {
    expect((await pay(payer)).body).toMatchObject({ requires_user_confirm: false })
  }
}

async function readChain(): Promise<void> {
  await finalize(world.chain)
  await indexTransfers(world.world)
}

/** Returns what the books say that a wallet holds: what came in less what went out. */
async function bookedOf({ id }: Agent): Promise<bigint> {
  const [row] = await world.db.sql<{ held: string }[]>`
    select ((select coalesce(sum(amount_atomic), 0) from private.deposits where account = ${id})
      - (select coalesce(sum(amount_atomic), 0) from private.outflows where account = ${id}))::text as held`
  return BigInt(row?.held ?? -1)
}

/** Lets the owner unfreeze the account and make a new key. */
async function welcomeBack(payer: Agent): Promise<Agent> {
  await world.db.sql`update private.accounts set frozen_at = null where id = ${payer.id}`
  const again = await payer.withKey('pay')
  await world.acquaint(again, payee.address)
  return again
}

test('after a restore the books equal the chain to the unit before anything is signed', async () => {
  await readChain()
  for (const payer of payers) await payOften(payer, 1)
  await resolveAll(world)
  const { url } = world.db
  await copyDatabase(url, {}, (content) => sealFile(file, passphrase, content))
  await Promise.all(payers.map((payer) => payOften(payer, paymentsEach)))
  await resolveAll(world)
  const held = await Promise.all(payers.map((payer) => usdcOf(world, payer)))

  await openSealed(file, passphrase, async (content) => loadDatabase(url, await openCopy(content)))
  const oldKey = await pay(payers[0] ?? payee)
  const back = await Promise.all(payers.map(welcomeBack))
  await readChain()
  const early = await Promise.all(back.map(pay))
  await world.tick(17 * 60)
  await indexTransfers(world.world)
  const stillEarly = await Promise.all(back.map(pay))
  await readChain()
  const booked = await Promise.all(back.map(bookedOf))

  expect(oldKey).toMatchObject({ status: 401 })
  for (const { status, body } of [...early, ...stillEarly]) {
    expect({ status, body }).toMatchObject({ status: 503, body: { error: 'unavailable' } })
  }
  expect(booked).toEqual(held)
  expect(held).toEqual(payers.map(() => 100_000_000n - BigInt(1 + paymentsEach) * 500_000n))
})

test('then it pays again, from the count of transactions that the chain shows', async () => {
  const back = await Promise.all(payers.map((payer) => payer.withKey('pay')))
  for (const payer of back) await world.acquaint(payer, payee.address)

  await Promise.all(back.map((payer) => payOften(payer, 1)))
  await resolveAll(world)
  await readChain()

  const held = await Promise.all(back.map((payer) => usdcOf(world, payer)))
  expect(held).toEqual(back.map(() => 100_000_000n - BigInt(2 + paymentsEach) * 500_000n))
  expect(await Promise.all(back.map(bookedOf))).toEqual(held)
})

test('payments of which the backup knew nothing are told in the feed and freeze nobody', async () => {
  await indexTransfers(world.world)
  await reconcileBalances(world.world, true)
  await readChain()
  await reconcileBalances(world.world, false)
  const [payer = payee] = await Promise.all(payers.map((one) => one.withKey('pay')))

  const [told] = await world.db.sql<{ count: number }[]>`
    select count(*)::int from private.activities
     where account = ${payer.id} and type = 'unexplained_transfer'`

  expect(told?.count).toBe(paymentsEach)
  expect(await isFrozen(world, payer)).toBe(false)
  expect(alarmsOf(world, payer)).not.toContain('balance_short')
})

test('a backup opens with its own passphrase alone, and not if a byte of it was changed', async () => {
  const bytes = readFileSync(file)
  const middle = Math.floor(bytes.length / 2)
  bytes.writeUInt8(bytes.readUInt8(middle) ^ 1, middle)
  const changed = join(directory, 'changed')
  writeFileSync(changed, bytes)
  const use = async () => 'opened'

  await expect(openSealed(file, 'another one', use)).rejects.toThrow(
    'the passphrase is another one',
  )
  await expect(openSealed(changed, passphrase, use)).rejects.toThrow('the file is damaged')
  expect(bytes.includes(payee.alias)).toBe(false)
})
