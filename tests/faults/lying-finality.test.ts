/** One endpoint that reports blocks as final too early, beside an honest one, ends nothing. */
import { beforeEach, expect, test } from 'vitest'
import { callRpc, transact } from '../../scripts/local/rpc.ts'
import { issuer } from '../../scripts/local/tokens.ts'
import { runHousekeeping } from '../../shared/payments/settle/housekeeping.ts'
import { node, pass, stopMining } from '../support/faults/chain.ts'
import type { Liar } from '../support/faults/liar.ts'
import { finalAtOnce, saying, startLiar } from '../support/faults/liar.ts'
import { onePair, outcomeOf, paidOnce, transfer } from '../support/faults/pair.ts'
import { ledgerEqualsChain, settleAll } from '../support/faults/settle.ts'
import { acquainted } from '../support/ledger.ts'
import { signedPayment } from '../support/signed.ts'
import type { Agent, TestWorld } from '../support/world.ts'
import { start } from '../support/world.ts'

let liar: Liar
let world: TestWorld
beforeEach(async () => {
  world = await start({
    chain: true,
    endpoints: async (nodeUrl) => {
      liar = await startLiar(nodeUrl)
      const honest = await startLiar(nodeUrl)
      return [liar.url, honest.url]
    },
  })
})

/** Lie: contracts answer true instead of false. */
const neverFalse = saying('eth_call', (data) => {
  const words = String(data).slice(2)
  return `0x${words.replace(/.{64}/g, (word) => (/^0+$/.test(word) ? `${'0'.repeat(63)}1` : word))}`
})

async function finalityOf(payer: Agent): Promise<string | null> {
  const [row] = await world.db.sql<{ finality: string | null }[]>`
    select finality from private.payments where account = ${payer.id}`
  return row?.finality ?? null
}

/** Signs a payment of 5 USDC and has its holder use it. */
async function use(): Promise<Agent> {
  const { payer, payee } = await acquainted(world)
  const payment = await signedPayment(world, payer, payee.address)
  await callRpc(world.chain.rpcUrl, [['anvil_impersonateAccount', issuer]])
  await transact(world.chain.rpcUrl, issuer, world.chain.usdc, payment.calldata)
  return payer
}

test('a relayed payment is final once both endpoints say so, and is watched until then', async () => {
  const pair = await onePair(world)
  liar.tell(finalAtOnce)
  await stopMining(world)
  await transfer(world.worker(), pair)
  await node(world, 'evm_mine')
  await runHousekeeping(world.world)
  const during = await finalityOf(pair.payer)

  await node(world, 'anvil_reorg', 1, [])
  liar.tell()
  await runHousekeeping(world.world)
  const gone = await finalityOf(pair.payer)
  await settleAll(world)

  expect(during).toBe('safe')
  expect(gone).toBe('reorged')
  expect(await finalityOf(pair.payer)).toBe('finalized')
  expect(await outcomeOf(world, pair)).toBe(paidOnce)
  await ledgerEqualsChain(world)
})

test('a payment that its payee brought to the chain is final once both endpoints say so', async () => {
  const payer = await use()
  await world.tick(60)

  liar.tell(finalAtOnce)
  await runHousekeeping(world.world)
  await runHousekeeping(world.world)
  const during = await finalityOf(payer)
  liar.tell()
  await pass(world, 60)
  await runHousekeeping(world.world)

  expect(during).toBe('safe')
  expect(await finalityOf(payer)).toBe('finalized')
})

test('a signature that one endpoint alone calls used for good is not booked as settled somewhere', async () => {
  const { payer, payee } = await acquainted(world)
  await signedPayment(world, payer, payee.address)
  await pass(world, 7_200)

  liar.tell(neverFalse)
  await runHousekeeping(world.world)
  const during = await finalityOf(payer)
  liar.tell()
  await runHousekeeping(world.world)

  expect(during).toBe('submitted')
  expect(await finalityOf(payer)).toBeNull()
})
