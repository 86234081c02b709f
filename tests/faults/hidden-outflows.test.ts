/** Money that leaves without a payment freezes the account, also behind permits to the same payee. */
import { expect, test } from 'vitest'
import { newKey, transfer } from '../support/chain-world.ts'
import { sendAs } from '../support/deposits.ts'
import { besideLiar } from '../support/faults/beside-liar.ts'
import { node } from '../support/faults/chain.ts'
import { allowPermit2, bookedOf, signedPermit, spent } from '../support/faults/permits.ts'
import { minutes } from '../support/faults/two.ts'
import { alarmsOf, isFrozen } from '../support/outflows.ts'

const atomic = 200_000n

async function permitWorld() {
  const two = await besideLiar({ statesMax: 10_000 })
  await allowPermit2(two.world, two.agent)
  await node(two.world, 'anvil_mine', '0x40')
  const { world, agent } = two
  const payee = newKey().at
  const sign = () => {
    const validBefore = Math.floor(world.world.now().getTime() / 1000) + 299
    return signedPermit(world, agent, 'exact', { validBefore }, { payee, atomic })
  }
  const steal = () => sendAs(world, agent.address, transfer(payee, atomic))
  return { ...two, sign, steal }
}

test('a stream of equal permits that are signed and used hides it for minutes only', async () => {
  const { world, agent, sign, steal } = await permitWorld()
  let open = await sign()
  await steal()

  for (let round = 0; round < 8 && !(await isFrozen(world, agent)); round += 1) {
    await minutes(world, 3)
    const next = await sign().catch(() => undefined)
    await open.use()
    if (next) open = next
  }

  expect(alarmsOf(world, agent)).toEqual(['unknown_outflow'])
})

test('an unused permit that one endpoint shows as used has no part in it', async () => {
  const { world, agent, liar, sign, steal } = await permitWorld()
  const unused = await sign()
  await steal()
  liar.tell(spent([unused.nonce], Number(await node(world, 'eth_blockNumber')) - 2))

  await minutes(world, 24, 3)
  const during = await bookedOf(world, unused.id)
  liar.tell()
  await minutes(world, 12, 3)

  expect(during).toMatchObject({ state: 'signed' })
  expect(await isFrozen(world, agent)).toBe(true)
})
