/** Payments that a freeze reported as stopped do not leave when the owner unfreezes the account. */
import { expect, test } from 'vitest'
import { runHousekeeping } from '../../shared/payments/settle/housekeeping.ts'
import type { Fetch } from '../../shared/world.ts'
import { elapse, node } from '../support/faults/chain.ts'
import { holdGasPayers, orderTo, transferPath } from '../support/faults/pair.ts'
import { askedFor } from '../support/held.ts'
import { acquainted, statesOf, usdcOf } from '../support/ledger.ts'
import { ownerOf } from '../support/owner.ts'
import { start } from '../support/world.ts'

const world = await start({ chain: true })

async function goOn() {
  for (let run = 0; run < 4; run += 1) {
    await runHousekeeping(world.world)
    await node(world, 'evm_mine')
    await elapse(world, 61)
  }
}

test('a transfer that was signed and waited for a relayer', async () => {
  const { payer, payee } = await acquainted(world)
  await holdGasPayers(world)
  await payer.post(transferPath, orderTo(payee))
  const { body } = await payer.post('/account-freeze', {})

  expect(await (await ownerOf(world, payer)).unfreeze()).toEqual([{ unfrozen: true }])
  await goOn()

  expect(body).toMatchObject({ may_settle: [], stopped: [] })
  expect(await statesOf(world, payer)).toEqual(['released'])
  expect(await usdcOf(world, payee)).toBe(0n)
})

test('a transfer that was frozen while a transaction around it was signed', async () => {
  const [frozen, other] = [await acquainted(world), await acquainted(world)]
  await holdGasPayers(world)
  for (const { payer, payee } of [frozen, other]) await payer.post(transferPath, orderTo(payee))
  await elapse(world, 6)
  const freezing: Fetch = async (input, init) => {
    const answer = await fetch(input, init)
    if (askedFor(input, init) === 'custody_claim') await frozen.payer.post('/account-freeze', {})
    return answer
  }
  await runHousekeeping(world.worker({ fetch: freezing }).world)

  await (await ownerOf(world, frozen.payer)).unfreeze()
  await goOn()

  expect(await usdcOf(world, frozen.payee)).toBe(0n)
  expect(await usdcOf(world, other.payee)).toBe(10_000_000n)
})
