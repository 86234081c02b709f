/** A settlement that one endpoint invents while the other is silent stands only until the other answers. */
import { expect, test } from 'vitest'
import { fund } from '../../../scripts/local/chain.ts'
import { issuer } from '../../../scripts/local/tokens.ts'
import { runHousekeeping } from '../../../shared/payments/settle/housekeeping.ts'
import { transfer as transferCall } from '../../support/chain-world.ts'
import { node, pass, sendAs, stopMining } from '../../support/faults/chain.ts'
import { finalBlock } from '../../support/faults/forged.ts'
import { answering, silent } from '../../support/faults/liar.ts'
import { onePair, transfer } from '../../support/faults/pair.ts'
import { forgeAll, minutes, sentBy, worldOfTwo } from '../../support/faults/two.ts'
import { usdcOf } from '../../support/ledger.ts'
import { signedPayment } from '../../support/signed.ts'
import type { Agent, TestWorld } from '../../support/world.ts'

/** Lie: only the first block is final. */
const finalNever = { asked: (body: string) => body.replace(/"finalized"/g, '"0x0"') }
const spent = answering('authorizationState(address,bytes32)', 1n)

async function stateOf(world: TestWorld, { id }: Agent): Promise<string> {
  const [row] = await world.db.sql<{ state: string }[]>`
    select state from private.payments where account = ${id}`
  return row?.state ?? ''
}

/** Mines a relayed transfer that fails, while one endpoint shows it as successful. */
async function failed(isFirst: boolean) {
  const two = await worldOfTwo({ lanes: 1, isFirst })
  const { world } = two
  const pair = await onePair(world)
  await fund(world.chain, pair.payer.address, { weiAmount: 10n ** 18n })
  await pass(world, 60)
  await stopMining(world)
  await transfer(world.worker(), pair)
  await sendAs(world, pair.payer.address, {
    to: world.chain.usdc,
    data: transferCall(issuer, 1_000_000_000n),
    maxFeePerGas: '0x174876e800',
  })
  await node(world, 'evm_mine')
  await node(world, 'evm_setAutomine', true)
  const [sent] = await sentBy(world, pair.payer)
  const receipt = await node(world, 'eth_getTransactionReceipt', sent?.tx)
  const lies = [await forgeAll(world, pair.payer, await finalBlock(world, 'latest')), spent]
  return { ...two, ...pair, receipt, lies }
}

test.each([true, false])(
  'a transfer that failed is not shown as settled once both endpoints speak; the liar is first: %s',
  async (isFirst) => {
    const { world, liar, honest, payer, receipt, lies } = await failed(isFirst)
    liar.tell(...lies)
    honest.tell(silent())
    await runHousekeeping(world.world)
    const told = await stateOf(world, payer)
    honest.tell()

    await minutes(world, 2)

    expect(receipt).toMatchObject({ status: '0x0' })
    expect([told, await stateOf(world, payer)]).toEqual(['settled', 'signed'])
  },
)

test.each([true, false])(
  'it is released once its signature has ended, when the lie is over; the liar is first: %s',
  async (isFirst) => {
    const { world, liar, honest, payer, payee, lies } = await failed(isFirst)
    liar.tell(...lies)
    honest.tell(silent())
    await runHousekeeping(world.world)
    for (const one of [liar, honest]) one.tell()

    await minutes(world, 14)

    expect(await usdcOf(world, payee)).toBe(0n)
    expect(await stateOf(world, payer)).toBe('released')
  },
)

test.each([true, false])(
  'a purchase that is shown and taken back for days counts no more once it is final; the liar is first: %s',
  async (isFirst) => {
    const { world, liar } = await worldOfTwo({ lanes: 1, isFirst })
    const { payer, payee } = await onePair(world)
    await pass(world, 60)
    const { calldata } = await signedPayment(world, payer, payee.address)
    await sendAs(world, issuer, { to: world.chain.usdc, data: calldata })
    await node(world, 'evm_mine')
    const unspent = answering('authorizationState(address,bytes32)', 0n)
    const states = new Set<string>()
    for (let look = 0; look < 12; look += 1) {
      liar.tell(unspent)
      await pass(world, 4 * 3_600)
      await runHousekeeping(world.world)
      liar.tell(finalNever)
      await runHousekeeping(world.world)
      states.add(await stateOf(world, payer))
    }
    liar.tell()

    await runHousekeeping(world.world)

    const [spent] = await world.db.sql`select (private.spent(${payer.id})).total`
    expect(await usdcOf(world, payee)).toBe(5_000_000n)
    expect([...states]).toEqual(['settled'])
    expect(spent).toEqual({ total: '0' })
  },
)

test('a purchase told once as settled is not, once the liar is silent and the other speaks', async () => {
  const { world, liar, honest } = await worldOfTwo({ lanes: 1 })
  const { payer, payee } = await onePair(world)
  await pass(world, 60)
  const { paymentId } = await signedPayment(world, payer, payee.address)
  await world.db.sql`update private.payments set state = 'unknown',
    tx_hash = ${`0x${'ab'.repeat(32)}`} where id = ${paymentId}`
  liar.tell(await forgeAll(world, payer, await finalBlock(world)), spent)
  honest.tell(silent())
  await world.tick(60)
  await runHousekeeping(world.world)
  const told = await stateOf(world, payer)
  liar.tell(silent())
  honest.tell()

  await minutes(world, 1)

  expect([told, await stateOf(world, payer)]).toEqual(['settled', 'unknown'])
})
