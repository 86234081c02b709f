/** One endpoint cannot invent where a Permit2 permit was used: it is final where enough show it. */
import { numberToHex } from 'viem'
import { expect, test } from 'vitest'
import { indexTransfers } from '../../../shared/payments/deposits/index-transfers.ts'
import { runHousekeeping } from '../../../shared/payments/settle/housekeeping.ts'
import { besideLiar } from '../../support/faults/beside-liar.ts'
import { elapse, node, pass } from '../../support/faults/chain.ts'
import { finalBlock } from '../../support/faults/forged.ts'
import type { Liar, Lie } from '../../support/faults/liar.ts'
import { saying, silent, startLiar } from '../../support/faults/liar.ts'
import {
  allowPermit2,
  bookedOf,
  movedIn,
  signedPermit,
  spentSince,
} from '../../support/faults/permits.ts'
import { minutes } from '../../support/faults/two.ts'
import { usdcOf } from '../../support/ledger.ts'
import { countedOf, isFrozen, owned } from '../../support/outflows.ts'
import { start } from '../../support/world.ts'

const full = 5_000_000n

test.each(['exact', 'upto'] as const)(
  'a permit of %s that one endpoint shows in a block before all reading began freezes nobody',
  async (scheme) => {
    const { world, agent, liar } = await besideLiar()
    await allowPermit2(world, agent)
    const [cursor] = await world.db.sql<{ began: number }[]>`
      select began_after::integer as began from private.transfer_cursors`
    const began = cursor?.began ?? 0
    const { id, payee, use } = await signedPermit(world, agent, scheme)
    await use()
    const moved = { from: agent.address, to: payee, atomic: full }
    liar.tell(spentSince(began), await movedIn(world, began, moved))

    await minutes(world, 6)
    const during = await bookedOf(world, id)
    await minutes(world, 34)

    expect(during?.finality).not.toBe('finalized')
    expect(await isFrozen(world, agent)).toBe(false)
    expect(await bookedOf(world, id)).toEqual({ state: 'settled', finality: 'finalized' })
  },
)

/** Uses a permit in the newest block, which is then removed; one endpoint shows it in a final block. */
async function shownAsFinal() {
  const two = await besideLiar()
  const { world, agent, liar } = two
  await allowPermit2(world, agent)
  await node(world, 'anvil_mine', '0x10')
  await indexTransfers(world.world)
  const validBefore = Math.floor(world.world.now().getTime() / 1000) + 300
  const permit = await signedPermit(world, agent, 'exact', { validBefore })
  await elapse(world, 70)
  await permit.use()
  const block = Number((await finalBlock(world)).number)
  const moved = { from: agent.address, to: permit.payee, atomic: full }
  liar.tell(spentSince(block), await movedIn(world, block, moved))
  await runHousekeeping(world.world)
  await node(world, 'anvil_reorg', 1, [])
  return { ...two, permit }
}

test('a permit is final by the block that has it, not by one that is final', async () => {
  const { world, liar, permit } = await shownAsFinal()
  liar.tell()

  await minutes(world, 8)

  expect(await usdcOf(world, { address: permit.payee })).toBe(0n)
  expect(await bookedOf(world, permit.id)).toMatchObject({ state: 'released' })
})

test('what one endpoint shows as final too early leaves no room for more in 24 hours', async () => {
  const { world, agent, liar, permit } = await shownAsFinal()
  await world.db.sql`update private.accounts set asserted_daily_limit_usd_micros = 5000000`
  await elapse(world, 225)
  await permit.use()
  liar.tell(saying('eth_getLogs', refused))
  for (let hour = 0; hour < 23; hour += 1) {
    await pass(world, 3_600)
    await runHousekeeping(world.world)
    await indexTransfers(world.world)
  }
  await elapse(world, 3_600 - 200)

  await expect(signedPermit(world, agent, 'exact')).rejects.toThrow('not signed')
  expect(await usdcOf(world, { address: permit.payee })).toBe(full)
})

test('a permit of upto counts in full while one endpoint shows that less was taken', async () => {
  const { world, agent, liar } = await besideLiar()
  await allowPermit2(world, agent)
  const permit = await signedPermit(world, agent, 'upto')
  await permit.use()
  const [told, less] = [full, 1n].map((atomic) => `"${numberToHex(atomic, { size: 32 })}"`)
  liar.tell({ told: (body) => body.replaceAll(String(told), String(less)) })

  await minutes(world, 3)

  expect(await bookedOf(world, permit.id)).toEqual({ state: 'settled', finality: 'finalized' })
  expect(await countedOf(world, agent)).toBe(full.toString())
})

function refused(): never {
  throw new Error('header not found')
}

/** Starts a world with three endpoints of three operators, judged by their addresses. */
async function worldOfThree() {
  const liars: Liar[] = []
  const world = await start({
    chain: true,
    endpoints: async (url) => {
      while (liars.length < 3) liars.push(await startLiar(url))
      return liars.map((one) => one.url)
    },
  })
  const { agent } = await owned(world, 20)
  return { world, agent, liar: liars[0] }
}

const lies: [string, Lie][] = [
  ['is silent', silent()],
  ['answers in another shape', saying('eth_call', () => ({ odd: true }))],
  ['answers each call with an error', saying('eth_call', refused)],
]

test.each(lies)('what two of three endpoints show is booked while the first %s', async (_, lie) => {
  const { world, agent, liar } = await worldOfThree()
  await allowPermit2(world, agent)
  const used = await signedPermit(world, agent, 'exact')
  const unused = await signedPermit(world, agent, 'exact')
  await used.use()
  liar?.tell(lie)

  await minutes(world, 15)

  const booked = [await bookedOf(world, used.id), await bookedOf(world, unused.id)]
  expect(booked).toMatchObject([{ state: 'settled', finality: 'finalized' }, { state: 'released' }])
})
