/** An account whose gas is used up delays nobody else when gas becomes dearer. */
import { expect, test } from 'vitest'
import { runHousekeeping } from '../../../shared/payments/settle/housekeeping.ts'
import { newKey } from '../../support/chain-world.ts'
import { elapse, expectUnusable, mineAt, stopMining } from '../../support/faults/chain.ts'
import { orderTo, transferPath } from '../../support/faults/pair.ts'
import { limitGas } from '../../support/gas.ts'
import { acquainted, statesOf, usdcOf } from '../../support/ledger.ts'
import { authorizing } from '../../support/signed.ts'
import { authorizationCall } from '../../support/signed-call.ts'
import type { Agent, TestWorld } from '../../support/world.ts'
import { start } from '../../support/world.ts'

const cheap = 50_000_000n
const dear = 6n * cheap

async function sign(world: TestWorld, payer: Agent, payee: string) {
  const request = await authorizing(world, payer, payee, {}, '10000')
  const fees = { maxFeePerGas: `${2n * cheap + 10n ** 6n}`, maxPriorityFeePerGas: '1000000' }
  const gas = { chainId: 84_532, ...fees, dataFeeWei: '0' }
  const answer = await world.world.custody?.authorize({ ...request, gas })
  return answer?.outcome === 'signed' ? answer.authorization : undefined
}

async function mineSix(world: TestWorld, baseFee: bigint) {
  for (let block = 0; block < 6; block += 1) await mineAt(world, baseFee)
}

test('its cancellations give way to transfers and cancellations of others', async () => {
  const world = await start({ chain: true })
  await mineSix(world, cheap)
  const spender = await world.agent('pay', { usdc: 1000 })
  const [{ payer, payee }, other] = [await acquainted(world), await acquainted(world)]
  const weiPerDay = 2n * 10n ** 15n
  await limitGas(world, {
    weiPerDay,
    callsPerDay: 200n,
    cancelsPerDay: 200n,
    leastUsdMicros: 10_000n,
  })
  await world.db.sql`delete from private.gas_prices`
  await stopMining(world)
  await mineSix(world, cheap)
  await runHousekeeping(world.world)
  const held = await sign(world, other.payer, other.payee.address)
  while (await sign(world, spender, newKey().at));
  await spender.post('/account-freeze', {})
  await runHousekeeping(world.world)
  await mineSix(world, dear)

  const sent = await payer.post(transferPath, orderTo(payee))
  await other.payer.post('/account-freeze', {})
  for (let half = 0; half < 8; half += 1) {
    await elapse(world, 30)
    await runHousekeeping(world.world)
    for (let block = 0; block < 3; block += 1) await mineAt(world, dear)
  }
  await runHousekeeping(world.world)

  expect(sent.body).toMatchObject({ status: 'submitted' })
  expect(await usdcOf(world, payee)).toBe(10_000_000n)
  expect(await statesOf(world, payer)).toEqual(['settled'])
  if (!held) throw new Error('not signed')
  await expectUnusable(world, authorizationCall(held) as `0x${string}`)
})
