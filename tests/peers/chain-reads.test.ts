import { Contract, JsonRpcProvider } from 'ethers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import * as z from 'zod'
import { callRpc } from '../../scripts/local/chain/rpc.ts'
import { fund, type Chain as LocalChain, startChain } from '../../scripts/local/chain.ts'
import { readAddressKind, readBalances } from '../../shared/chains/evm/funds.ts'
import { readPreflight } from '../../shared/chains/evm/preflight.ts'
import type { Address } from '../../shared/chains/registry.ts'
import { known, newKey, sign, transfer, worldOn } from '../support/chain-world.ts'

const { chain, usdc, eurc } = known('eip155:84532')
const historySchema = z.object({ baseFeePerGas: z.array(z.string()) })
const nowhere = '0x1111111111111111111111111111111111111111'

let local: LocalChain
let provider: JsonRpcProvider

beforeAll(async () => {
  local = await startChain({ chainId: 84532 })
  provider = new JsonRpcProvider(local.rpcUrl, undefined, { cacheTimeout: -1 })
}, 30_000)

afterAll(async () => {
  provider.destroy()
  await local.stop()
})

const connect = () => worldOn({ [chain.caip2]: local.rpcUrl })

test('one request reads what ethers reads: tokens, native coins, block and time', async () => {
  const [wallet, gasPayer] = [newKey().at, newKey().at]
  await fund(local, wallet, { usdcAtomic: 12_345_678n, weiAmount: 7n })
  await fund(local, gasPayer, { weiAmount: 10n ** 18n })
  if (!eurc) throw new Error('Base Sepolia has EURC')
  const world = connect()

  const answer = await readBalances(world, chain, {
    address: wallet,
    tokens: [eurc, usdc],
    extraNative: [gasPayer],
  })

  const abi = ['function balanceOf(address) view returns (uint256)']
  const usdcOf = new Contract(usdc.address, abi, provider).getFunction('balanceOf')
  const amountAtomic: unknown = await usdcOf(wallet)
  const block = await provider.getBlock('latest')
  expect(world.requests).toBe(1)
  expect(answer).toEqual({
    status: 'ok',
    blockNumber: BigInt(block?.number ?? 0),
    blockTimestampSeconds: BigInt(block?.timestamp ?? 0),
    tokens: [
      { token: eurc, amountAtomic: 0n, absent: false },
      {
        token: usdc,
        amountAtomic,
        absent: false,
      },
    ],
    nativeWei: await provider.getBalance(wallet),
    extraNativeWei: [await provider.getBalance(gasPayer)],
  })
})

test('a token without a contract is absent and hides nothing else', async () => {
  const wallet = newKey().at
  await fund(local, wallet, { usdcAtomic: 5n })

  const answer = await readBalances(connect(), chain, {
    address: wallet,
    tokens: [{ ...usdc, address: nowhere }, usdc],
  })

  expect(answer).toMatchObject({
    tokens: [
      { amountAtomic: 0n, absent: true },
      { amountAtomic: 5n, absent: false },
    ],
  })
})

/** Returns the reads of a transfer from this wallet. */
const asked = (wallet: Address, gasPayers: Address[] = []) => ({
  token: usdc,
  wallet,
  payee: newKey().at,
  gasPayers,
})

test('a node that is down or unknown reads as unavailable', async () => {
  const wanted = { address: newKey().at, tokens: [usdc] }
  const deaf = worldOn({ [chain.caip2]: 'http://127.0.0.1:1' })

  for (const world of [deaf, worldOn({})]) {
    expect(await readBalances(world, chain, wanted)).toMatchObject({ status: 'unavailable' })
    expect(await readPreflight(world, chain, asked(nowhere))).toMatchObject({
      status: 'unavailable',
    })
    expect(await readAddressKind(world, chain, nowhere)).toMatchObject({ status: 'unavailable' })
  }
})

test('a chain without Multicall3 reads as unavailable, not as empty', async () => {
  const bare = { ...chain, tokens: [] }
  const world = connect()
  const [code] = await callRpc(local.rpcUrl, [
    ['eth_getCode', '0xcA11bde05977b3631167028862bE2a173976CA11', 'latest'],
  ])
  await callRpc(local.rpcUrl, [
    ['anvil_setCode', '0xcA11bde05977b3631167028862bE2a173976CA11', '0x'],
  ])

  const answer = await readBalances(world, bare, { address: nowhere, tokens: [usdc] })

  await callRpc(local.rpcUrl, [
    ['anvil_setCode', '0xcA11bde05977b3631167028862bE2a173976CA11', code],
  ])
  expect(answer).toMatchObject({ status: 'unavailable' })
})

test('one request prices a transfer so that a doubled base fee is still paid', async () => {
  const [wallet, gasPayer] = [newKey().at, newKey().at]
  await fund(local, wallet, { usdcAtomic: 77n })
  await fund(local, gasPayer, { weiAmount: 123n })
  const world = connect()

  const answer = await readPreflight(world, chain, asked(wallet, [gasPayer]))

  if (answer.status !== 'ok') throw new Error(answer.log)
  const { baseFeePerGas, maxPriorityFeePerGas, maxFeePerGas, relayedCostWei } = answer
  const history: unknown = await provider.send('eth_feeHistory', ['0x1', 'latest', []])
  const [, nextBaseFee] = historySchema.parse(history).baseFeePerGas
  expect(world.requests).toBe(1)
  expect(answer).toMatchObject({
    tokenAtomic: 77n,
    walletWei: 0n,
    gasPayers: [{ address: gasPayer, wei: 123n, minedNonce: 0 }],
    walletNonce: 0,
    domainMatches: true,
  })
  expect(baseFeePerGas).toBe(BigInt(nextBaseFee ?? -1))
  expect(maxFeePerGas).toBe(2n * baseFeePerGas + maxPriorityFeePerGas)
  expect(relayedCostWei).toBe(160_000n * maxFeePerGas)
  expect(answer).not.toHaveProperty('barred')
})

test("the wallet's pending transactions count towards its nonce", async () => {
  const key = newKey()
  await fund(local, key.at, { weiAmount: 10n ** 18n, usdcAtomic: 10n })
  await callRpc(local.rpcUrl, [['evm_setAutomine', false]])
  const { raw } = await sign(chain, key, {
    to: usdc.address,
    data: transfer(nowhere, 1n),
    nonce: 0,
  })
  await callRpc(local.rpcUrl, [['eth_sendRawTransaction', raw]])

  const answer = await readPreflight(connect(), chain, asked(key.at))

  await callRpc(local.rpcUrl, [['evm_setAutomine', true], ['evm_mine']])
  expect(answer).toMatchObject({ walletNonce: 1 })
})

test('a token whose contract signs under another name is noticed before anything is signed', async () => {
  const renamed = { ...usdc, domain: { name: 'USD Coin', version: '2' } }
  const elsewhere = { ...chain, id: 8453 }
  const read = (on: typeof chain, token: typeof usdc) =>
    readPreflight(connect(), on, { ...asked(nowhere), token })

  expect(await read(chain, usdc)).toMatchObject({ domainMatches: true })
  expect(await read(chain, renamed)).toMatchObject({ domainMatches: false })
  expect(await read(elsewhere, usdc)).toMatchObject({ domainMatches: false })
  expect(await read(chain, { ...usdc, address: nowhere })).toMatchObject({ status: 'unavailable' })
})

test('accounts, delegated accounts and contracts are told apart', async () => {
  const delegated = newKey().at
  await callRpc(local.rpcUrl, [['anvil_setCode', delegated, `0xef0100${nowhere.slice(2)}`]])

  const kinds = await Promise.all(
    [newKey().at, delegated, usdc.address].map((address) =>
      readAddressKind(connect(), chain, address),
    ),
  )

  expect(kinds.map((answer) => answer.status === 'ok' && answer.kind)).toEqual([
    'account',
    'delegated',
    'contract',
  ])
})

// Code that answers every call with this one word: PUSH2, MSTORE, RETURN 32 bytes.
const answering = (word: number) => `0x61${word.toString(16).padStart(4, '0')}60005260206000f3`

test('what an OP Stack rollup charges for calldata is part of the worst case, there alone', async () => {
  const request = asked(newKey().at)
  const oracle = '0x420000000000000000000000000000000000000F'
  await callRpc(local.rpcUrl, [['anvil_setCode', oracle, answering(0x1234)]])

  const rollup = await readPreflight(connect(), chain, request)
  const other = await readPreflight(connect(), { ...chain, stack: 'ethereum' }, request)

  await callRpc(local.rpcUrl, [['anvil_setCode', oracle, '0x']])
  if (rollup.status !== 'ok' || other.status !== 'ok') throw new Error('unavailable')
  expect(rollup.relayedCostWei - 160_000n * rollup.maxFeePerGas).toBe(0x1234n)
  expect(other.relayedCostWei - 160_000n * other.maxFeePerGas).toBe(0n)
})

test("a Nitro chain is counted by its own blocks, not by its parent's", async () => {
  const arbSys = '0x0000000000000000000000000000000000000064'
  const wanted = { address: newKey().at, tokens: [] }
  await callRpc(local.rpcUrl, [['anvil_setCode', arbSys, answering(0x4321)]])

  const nitro = await readBalances(connect(), { ...chain, stack: 'nitro' }, wanted)
  const other = await readBalances(connect(), chain, wanted)

  await callRpc(local.rpcUrl, [['anvil_setCode', arbSys, '0x']])
  expect(nitro).toMatchObject({ blockNumber: 0x4321n })
  expect(other).toMatchObject({ blockNumber: BigInt(await provider.getBlockNumber()) })
})
