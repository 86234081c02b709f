/** One endpoint that tells more of a relayer than it holds, to have the gas of cancellations used up. */
import { expect, test } from 'vitest'
import { keepHouse } from '../../shared/payments/housekeeping.ts'
import { newKey } from '../support/chain-world.ts'
import { node } from '../support/faults/chain.ts'
import { answering } from '../support/faults/liar.ts'
import { minutes, worldOfTwo } from '../support/faults/two.ts'
import { limitGas, transferTo } from '../support/gas.ts'
import { signedPayment } from '../support/signed.ts'
import type { TestWorld } from '../support/world.ts'

const rich = answering('getEthBalance(address)', 10n ** 21n)

/** Leaves the only relayer so many calls at their worst price. */
async function fund(world: TestWorld, calls: bigint) {
  const [{ address } = { address: '' }] = await world.db.sql<{ address: string }[]>`
    select address from private.relay_lanes where kind = 'relayer'`
  const [{ call } = { call: '0' }] = await world.db.sql<{ call: string }[]>`
    select call_wei::text as call from private.gas_prices order by minute desc limit 1`
  await node(world, 'anvil_setBalance', address, `0x${(calls * BigInt(call)).toString(16)}`)
}

test.each([true, false])(
  '20 cancellations are paid for by a relayer that one endpoint tells rich; asked first: %s',
  async (isFirst) => {
    const { world, liar } = await worldOfTwo({ lanes: 1, isFirst })
    await limitGas(world, {})
    const payer = await world.agent('pay', { usdc: 1000 })
    const victim = await world.agent('pay', { usdc: 1000 })
    await world.db.sql`update private.accounts set asserted_daily_limit_usd_micros = 1000000000,
      asserted_new_recipient_limit_usd_micros = 1000000000,
      daily_spending_cap_usd_micros = 1000000000`
    await keepHouse(world.world)
    await fund(world, 26n)
    await keepHouse(world.world)

    liar.tell(rich)
    const answers: number[] = []
    for (let at = 0; at < 80; at += 1) {
      if (at % 10 === 0) await keepHouse(world.world)
      answers.push((await transferTo(world, payer, at, '0.01')).status)
    }
    const signed = []
    for (let at = 0; at < 20; at += 1) signed.push(await signedPayment(world, victim, newKey().at))
    await victim.post('/account-freeze', {})
    await minutes(world, 2)

    for (const { calldata: data } of signed) {
      const used = node(world, 'eth_call', { to: world.chain.usdc, data }, 'latest')
      await expect(used).rejects.toThrow('authorization is used or canceled')
    }
    expect(answers).toEqual(expect.arrayContaining([200, 503]))
  },
)
