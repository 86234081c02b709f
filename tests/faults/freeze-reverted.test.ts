/**
 * A transaction that was sent can return for as long as the one that took its nonce is not final. A
 * freeze reports it so, whatever the current block shows.
 */
import { expect, test } from 'vitest'
import { issuer } from '../../scripts/local/chain/fund.ts'
import { fund } from '../../scripts/local/chain.ts'
import { runHousekeeping } from '../../shared/payments/settle/housekeeping.ts'
import { transfer } from '../support/chain-world.ts'
import { elapse, node, sendAs, stopMining } from '../support/faults/chain.ts'
import { orderTo, transferPath } from '../support/faults/pair.ts'
import { limitGas } from '../support/gas.ts'
import { acquainted, usdcOf } from '../support/ledger.ts'
import { ownerOf } from '../support/owner.ts'
import { type Answer, start } from '../support/world.ts'

const world = await start({ chain: true })
const inFront = { maxFeePerGas: '0x174876e800' }
const coin = 10n ** 18n

async function bytesOf({ body }: Answer): Promise<string> {
  const [row] = await world.db.sql<{ raw: string }[]>`
    select raw from private.relay_transactions where tx_hash = ${String(body['tx_hash'])}`
  return row?.raw ?? ''
}

const height = async () => Number(await node(world, 'eth_blockNumber'))

/** Replaces all blocks after `since` by one with this transaction alone, which anybody can send. */
async function bringBack(raw: string, since: number): Promise<void> {
  await node(world, 'anvil_reorg', (await height()) - since, [[raw, 0]])
}

/** Removes what a wallet needs for its pending transfer: its balance, or the token's permission. */
async function spoil(wallet: string, isEmptied: boolean): Promise<void> {
  const to = world.chain.usdc
  if (isEmptied) {
    const data = transfer(issuer, 1_000_000_000n)
    await sendAs(world, wallet, { to, data, ...inFront })
    return
  }
  // Selectors of FiatToken: blacklister() and blacklist(address).
  const word = await node(world, 'eth_call', { to, data: '0xbd102430' }, 'latest')
  const blacklister = `0x${String(word).slice(-40)}`
  await node(world, 'anvil_setBalance', blacklister, `0x${coin.toString(16)}`)
  const data = `0xf9f92be4${wallet.slice(2).toLowerCase().padStart(64, '0')}`
  await sendAs(world, blacklister, { to, data, ...inFront })
}

test.each([
  ['a relayer', false],
  ['its wallet', true],
])('what %s carried, and a block holds without its transfer', async (_, isOwn) => {
  const { payer, payee } = await acquainted(world)
  await limitGas(world, { callsPerDay: 1n })
  await fund(world.chain, payer.address, { weiAmount: coin })
  await world.db.sql`update private.gas_payers set paused_for = ${isOwn ? 'a test' : null}
     where kind = 'relayer'`
  await stopMining(world)
  const sent = await payer.post(transferPath, orderTo(payee))
  const since = await height()
  await spoil(payer.address, !isOwn)
  await node(world, 'evm_mine')
  await runHousekeeping(world.world)
  const look = await payer.post('/transfer-status', { transfer_id: sent.body['transfer_id'] })

  const { body } = await payer.post('/account-freeze', {})
  await bringBack(await bytesOf(sent), since)

  const named = { payment_id: sent.body['transfer_id'], why: 'in_transaction' }
  expect(look.body).toMatchObject({ finality: 'reverted' })
  expect(body).toMatchObject({ may_settle: [named] })
  expect(await usdcOf(world, payee)).toBe(10_000_000n)
})

test.each([
  ['asked for again', false],
  ['made anew after a thaw', true],
])('what was replaced by nothing, in a freeze that is %s', async (_, isThawed) => {
  const { payer, payee } = await acquainted(world)
  await world.db.sql`update private.gas_payers set paused_for = null`
  await limitGas(world, {})
  await stopMining(world)
  const since = await height()
  const sent = await payer.post(transferPath, orderTo(payee))
  const first = await payer.post('/account-freeze', {})
  // Its cancellation has to wait, so that only its nonce is replaced.
  await world.db.sql`update private.gas_payers set lease = gen_random_uuid(),
    leased_until = private.clock() + interval '1 hour'`
  await runHousekeeping(world.world)
  await node(world, 'evm_mine')
  await runHousekeeping(world.world)
  if (isThawed) await (await ownerOf(world, payer)).unfreeze()

  const again = await payer.post('/account-freeze', {})
  await bringBack(await bytesOf(sent), since)

  expect(first.body).toMatchObject({ may_settle: [{ why: 'in_transaction' }] })
  expect(again.body).toMatchObject({ may_settle: [{ why: 'in_transaction' }] })
  expect(await usdcOf(world, payee)).toBe(10_000_000n)
  await world.db.sql`update private.gas_payers set lease = null, leased_until = null`
  await elapse(world, 1)
})
