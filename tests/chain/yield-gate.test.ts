import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, test } from 'vitest'
import { issuer } from '../../scripts/local/chain/fund.ts'
import { callRpc, transact } from '../../scripts/local/chain/rpc.ts'
import { deployOver, deployYield } from '../../scripts/local/chain/yield.ts'
import { type Chain, fund, startChain } from '../../scripts/local/chain.ts'
import { compileContracts } from '../../scripts/local/contracts/compile.ts'
import type { Hex } from '../../shared/chains/hex.ts'
import type { Address } from '../../shared/chains/registry.ts'
import { type Key, newKey } from '../support/chain-world.ts'
import { atEnd } from '../support/ending.ts'
import { randomBytes } from '../support/seed.ts'
import { encode, type Order, read, signOrder } from '../support/yield-gate.ts'

const deposited = 100_000_000n
const token = 10_000n
const gasLimit = '0xe57e0'
const hostile = compileContracts(fileURLToPath(new URL('./hostile-vaults.sol', import.meta.url)))

let chain: Chain
let gate: Address
let plain: Address
beforeAll(async () => {
  chain = await startChain({ chainId: 84532 })
  atEnd(() => chain.stop())
  ;({ gate, vault: plain } = await deployYield(chain))
})

async function payerWith(usdcAtomic: bigint): Promise<Key> {
  const payer = newKey()
  await fund(chain, payer.at, { usdcAtomic })
  return payer
}

const usdcOf = (holder: Address) => read(chain, chain.usdc, 'balanceOf', holder)
const sharesOf = ({ at }: Key, vault: Address) => read(chain, gate, 'sharesOf', at, vault)

/** Makes any account carry a call, and returns whether it was executed. */
async function isCarried(data: Hex): Promise<boolean> {
  const call = { from: issuer, to: gate, data, gas: gasLimit }
  const [hash] = await callRpc(chain.rpcUrl, [['eth_sendTransaction', call]])
  // Anvil answers before the transaction is mined.
  const receipt = async () => {
    const [found] = await callRpc(chain.rpcUrl, [['eth_getTransactionReceipt', hash]])
    return JSON.stringify(found)
  }
  await expect.poll(receipt).not.toBe('null')
  return (await receipt()).includes('"status":"0x1"')
}

/** Returns an order with a bound of 1% below what the vault promises now. */
async function depositOrder(vault: Address, value = deposited): Promise<Order> {
  const shares = await read(chain, vault, 'previewDeposit', value)
  return {
    vault,
    isDeposit: true,
    shares: (shares * 99n) / 100n,
    minimumOut: (value * 99n) / 100n,
  }
}

async function withdrawOrder(vault: Address, shares: bigint): Promise<Order> {
  const value = await read(chain, vault, 'previewRedeem', shares)
  return { vault, isDeposit: false, shares, minimumOut: (value * 99n) / 100n }
}

async function isExecuted(payer: Key, order: Order, value: bigint): Promise<boolean> {
  return isCarried(await signOrder(chain, payer, { gate, value, order }))
}

describe('the gate', () => {
  test('deposits for the payer and gives back what a withdrawal brings, to the unit', async () => {
    const payer = await payerWith(deposited + token)

    const isIn = await isExecuted(payer, await depositOrder(plain), deposited)
    const shares = await sharesOf(payer, plain)
    const isOut = await isExecuted(payer, await withdrawOrder(plain, shares), token)

    expect([isIn, isOut]).toEqual([true, true])
    expect(shares).toBe(deposited)
    expect([await usdcOf(payer.at), await usdcOf(gate), await sharesOf(payer, plain)]).toEqual([
      deposited + token,
      0n,
      0n,
    ])
  })

  test('pays the yield of a payer to that payer, and none to another one', async () => {
    const [payer, other] = [await payerWith(deposited + token), await payerWith(deposited + token)]
    for (const one of [payer, other]) {
      await isExecuted(one, await depositOrder(plain), deposited)
    }
    await fund(chain, plain, { usdcAtomic: 20_000_000n })

    await isExecuted(payer, await withdrawOrder(plain, await sharesOf(payer, plain)), token)
    const stolen = await withdrawOrder(plain, 1n + (await sharesOf(other, plain)))

    expect(await usdcOf(payer.at)).toBeGreaterThanOrEqual(deposited + token + 9_999_998n)
    expect(await isExecuted(other, stolen, token)).toBe(false)
    expect(await isExecuted(payer, { ...stolen, shares: 1n }, token)).toBe(false)
  })

  test('executes no other order than the signed one, and each once', async () => {
    const payer = await payerWith(deposited * 2n)
    const order = await depositOrder(plain)
    const signed = { gate, value: deposited, order }
    const others: Order[] = [
      { ...order, vault: gate },
      { ...order, minimumOut: 0n },
      { ...order, shares: 0n },
      { ...order, isDeposit: false },
    ]

    for (const other of others) {
      expect(await isCarried(await signOrder(chain, payer, signed, other))).toBe(false)
    }
    const call = await signOrder(chain, payer, signed)

    expect([await isCarried(call), await isCarried(call)]).toEqual([true, false])
    expect(await usdcOf(payer.at)).toBe(deposited)
  })
})

describe('of a vault that', () => {
  async function place(name: string): Promise<Address> {
    const code = hostile.get(name)
    if (!code) throw new Error(`no contract ${name}`)
    const salt = `0x${randomBytes(32).toString('hex')}` as const
    const vault = await deployOver(chain, code.bytecode, salt)
    await isExecuted(await payerWith(deposited), await depositOrder(vault), deposited)
    return vault
  }
  const turn = (vault: Address) => transact(chain.rpcUrl, issuer, vault, encode('turn'))

  test.each([
    ['pays less than it promised', 'PaysLess'],
    ['pauses', 'Pauses'],
    ['lies in asset()', 'LiesInAsset'],
    ['lies in totalAssets()', 'LiesInTotal'],
    ['charges a fee on transfers', 'ChargesTransfers'],
    ['claims more shares than it made', 'ClaimsMoreShares'],
    ['burns all gas', 'BurnsGas'],
  ])('%s, a deposit leaves the wallet as it was', async (_, name) => {
    const [payer, vault] = [await payerWith(deposited), await place(name)]
    const order = await depositOrder(vault)
    await turn(vault)

    expect(await isExecuted(payer, order, deposited)).toBe(false)

    expect([await usdcOf(payer.at), await sharesOf(payer, vault)]).toEqual([deposited, 0n])
  })

  test.each([
    ['pays less than it promised', 'PaysLess'],
    ['pauses', 'Pauses'],
    ['lies in asset()', 'LiesInAsset'],
  ])('%s, a withdrawal leaves the shares as they were', async (_, name) => {
    const [payer, vault] = [await payerWith(deposited + token), await place(name)]
    await isExecuted(payer, await depositOrder(vault), deposited)
    const shares = await sharesOf(payer, vault)
    const order = await withdrawOrder(vault, shares)
    await turn(vault)

    expect(await isExecuted(payer, order, token)).toBe(false)

    expect([await usdcOf(payer.at), await sharesOf(payer, vault)]).toEqual([token, shares])
  })

  test('lies in totalAssets(), a withdrawal at the price that it names is not executed', async () => {
    const [payer, vault] = [await payerWith(deposited + token), await place('LiesInTotal')]
    await isExecuted(payer, await depositOrder(vault), deposited)
    const shares = await sharesOf(payer, vault)
    await turn(vault)

    expect(await isExecuted(payer, await withdrawOrder(vault, shares), token)).toBe(false)

    expect([await usdcOf(payer.at), await sharesOf(payer, vault)]).toEqual([token, shares])
  })

  test('enters the gate again, one order is executed and the other stays unused', async () => {
    const [payer, vault] = [await payerWith(2n * deposited), await place('Reenters')]
    const order = await depositOrder(vault)
    const signed = { gate, value: deposited, order: await depositOrder(plain) }
    const inner = await signOrder(chain, payer, signed)
    await transact(chain.rpcUrl, issuer, vault, encode('arm', gate, inner))
    await turn(vault)

    expect(await isExecuted(payer, order, deposited)).toBe(true)

    expect(await read(chain, vault, 'entered')).toBe(0n)
    expect([await usdcOf(payer.at), await sharesOf(payer, plain)]).toEqual([deposited, 0n])
    expect(await isCarried(inner)).toBe(true)
  })

  test('has its first share inflated by a gift, a deposit leaves the wallet as it was', async () => {
    const code = hostile.get('Inflates')
    if (!code) throw new Error('no contract')
    const vault = await deployOver(chain, code.bytecode)
    const payer = await payerWith(deposited)
    const order = await depositOrder(vault)
    await fund(chain, issuer, { usdcAtomic: 1n })
    await transact(chain.rpcUrl, issuer, chain.usdc, encode('approve', vault, 1n))
    await transact(chain.rpcUrl, issuer, vault, encode('deposit', 1n, issuer))
    await fund(chain, vault, { usdcAtomic: deposited * 2n - 1n })

    // These two know the inflated price; of three deposits, rounding would take one.
    const later = await depositOrder(vault)
    const dearer = await depositOrder(vault, deposited * 3n)
    await fund(chain, payer.at, { usdcAtomic: deposited * 2n })

    expect(await isExecuted(payer, order, deposited)).toBe(false)
    expect(await isExecuted(payer, later, deposited)).toBe(false)
    expect(await isExecuted(payer, dearer, deposited * 3n)).toBe(false)
    expect(await usdcOf(payer.at)).toBe(deposited * 3n)
  })
})
