/** An operator takes the gas of a relayer back, and never from under a payment. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getAddress } from 'ethers'
import { afterAll, expect, test } from 'vitest'
import { fundGasPayer } from '../../scripts/local/chain/gas-payers.ts'
import { callRpc } from '../../scripts/local/chain/rpc.ts'
import { sweep } from '../../scripts/operator/sweep.ts'
import { makeSecrets, readSecrets } from '../../scripts/serve/settings.ts'
import { runHousekeeping } from '../../shared/payments/settle/housekeeping.ts'
import { resolveAll } from '../support/books.ts'
import { hex } from '../support/chain-world.ts'
import { acquainted, usdcOf } from '../support/ledger.ts'
import { anew } from '../support/wish.ts'
import { finalize, start } from '../support/world.ts'

const directory = mkdtempSync(join(tmpdir(), 'aoa-sweep-'))
makeSecrets(directory)
afterAll(() => rmSync(directory, { recursive: true }))
const { CUSTODY_ROOT_KEYS: rootKeys = '' } = readSecrets(directory, 'custody')

const world = await start({ chain: true, rootKeys })
const { payer, payee } = await acquainted(world)
const { rpcUrl, network } = world.chain
const to = getAddress(`0x${'7'.repeat(40)}`)
const settings = { directory, rpc: { [network]: [rpcUrl] } }

function pay() {
  const order = { recipient: payee.alias, chain: 'base-sepolia', token: 'USDC', amount: '1' }
  return payer.post('/wallet-custodial-transfer', anew(order))
}

async function weiOf(address: string): Promise<bigint> {
  const [held] = await callRpc(rpcUrl, [['eth_getBalance', address, 'latest']])
  return BigInt(String(held))
}

async function relayerAddress(): Promise<`0x${string}`> {
  const [gasPayer] = await world.db.sql<
    { address: string }[]
  >`select address from private.gas_payers`
  return hex(gasPayer?.address ?? '')
}

test('a relayer is swept once its payment is mined, and pays again when it has gas', async () => {
  const relayer = await relayerAddress()
  await callRpc(rpcUrl, [['evm_setAutomine', false]])
  await pay()
  const early = sweep(world.db.sql, settings, { relayer, to })
  await expect(early).rejects.toThrow('in flight')
  await callRpc(rpcUrl, [['evm_setAutomine', true]])
  await callRpc(rpcUrl, [['evm_mine']])
  await resolveAll(world)
  await finalize(world.chain)
  const held = await weiOf(relayer)

  const [row] = await sweep(world.db.sql, settings, { relayer, to })
  const swept = await weiOf(to)
  await fundGasPayer(world.chain, relayer)
  await runHousekeeping(world.world)
  await pay()
  await resolveAll(world)

  expect(row).toMatchObject({ relayer, to })
  expect(swept).toBeGreaterThan((held * 9n) / 10n)
  expect(await usdcOf(world, payee)).toBe(2_000_000n)
})

test('nothing is sent to an address with a wrong checksum, and nothing from one that is no relayer', async () => {
  const relayer = await relayerAddress()
  const mistyped = '0x5aaeb6053F3E94C9b9A09f33669435E7Ef1BeAed'

  await expect(sweep(world.db.sql, settings, { relayer, to: mistyped })).rejects.toThrow('EIP-55')
  await expect(sweep(world.db.sql, settings, { relayer: to, to })).rejects.toThrow('no relayer')
})
