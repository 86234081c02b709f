import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Contract, JsonRpcProvider, TypedDataEncoder } from 'ethers'
import { type Address, createPublicClient, createTestClient, erc20Abi, http, parseAbi } from 'viem'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import {
  blacklist,
  type Chain,
  type ChainOptions,
  fund,
  pause,
  startChain,
  unblacklist,
  unpause,
} from '../../scripts/local/chain.ts'
import { multicall3 } from '../../scripts/local/deploy.ts'

const holder: Address = '0x1111111111111111111111111111111111111111'
const payee: Address = '0x2222222222222222222222222222222222222222'
const eurc: Address = '0x808456652fdb597867f38412077A9182bf77359F'
const separatorOfBaseUsdc = '0x71f17a3b2ff373b803d70a5a07c046c1a2bc8e89c09ef722fcb047abe94c9818'

let base: Chain
let arbitrum: Chain
let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'chain-test-'))
  ;[base, arbitrum] = await Promise.all([
    startChain({ chainId: 84532 }),
    startChain({ chainId: 421614 }),
  ])
}, 20_000)

afterAll(async () => {
  await Promise.all([base?.stop(), arbitrum?.stop()])
  await rm(folder, { recursive: true, force: true })
})

test("every token has the name, version and EIP-712 domain of Circle's own", async () => {
  const facts = [
    await readToken(base, base.usdc),
    await readToken(base, eurc),
    await readToken(arbitrum, arbitrum.usdc),
  ]

  expect(facts.map(({ token }) => token)).toEqual([
    { name: 'USDC', symbol: 'USDC', version: '2', decimals: 6n },
    { name: 'EURC', symbol: 'EURC', version: '2', decimals: 6n },
    { name: 'USD Coin', symbol: 'USDC', version: '2', decimals: 6n },
  ])
  expect(facts.map(({ separator }) => separator)).toEqual(facts.map(({ expected }) => expected))
  expect(facts[0]?.separator).toBe(separatorOfBaseUsdc)
})

test('Multicall3 answers several reads in one call', async () => {
  const contract = { address: base.usdc, abi: erc20Abi } as const
  await fund(base, holder, { usdcAtomic: 5n })

  const [balance, decimals] = await reader(base).multicall({
    multicallAddress: multicall3,
    allowFailure: false,
    contracts: [
      { ...contract, functionName: 'balanceOf', args: [holder] },
      { ...contract, functionName: 'decimals' },
    ],
  })

  expect(balance).toBeGreaterThanOrEqual(5n)
  expect(decimals).toBe(6)
})

test('money that arrives together is all there', async () => {
  const funds = { usdcAtomic: 7n, eurcAtomic: 3n, weiAmount: 9n }

  await Promise.all(Array.from({ length: 20 }, () => fund(base, payee, funds)))

  expect(await balanceOf(base, base.usdc, payee)).toBe(140n)
  expect(await balanceOf(base, eurc, payee)).toBe(60n)
  expect(await reader(base).getBalance({ address: payee })).toBe(9n)
})

test('a paused token and a barred holder move nothing until they are released', async () => {
  const attempt = () =>
    reader(arbitrum).simulateContract({
      address: arbitrum.usdc,
      abi: parseAbi(['function transfer(address,uint256) returns (bool)']),
      functionName: 'transfer',
      args: [payee, 1n],
      account: holder,
    })
  await fund(arbitrum, holder, { usdcAtomic: 1n })

  await pause(arbitrum)
  await expect(attempt()).rejects.toThrow('Pausable: paused')
  await unpause(arbitrum)
  await blacklist(arbitrum, holder)
  await expect(attempt()).rejects.toThrow('Blacklistable: account is blacklisted')
  await unblacklist(arbitrum, holder)

  expect((await attempt()).result).toBe(true)
})

test('blocks become safe after four and finalized after eight', async () => {
  await createTestClient({ mode: 'anvil', transport: http(base.rpcUrl) }).mine({ blocks: 12 })

  const [latest, safe, finalized] = await Promise.all(
    (['latest', 'safe', 'finalized'] as const).map((blockTag) =>
      reader(base).getBlock({ blockTag }),
    ),
  )

  expect(Number(latest?.number) - Number(safe?.number)).toBe(4)
  expect(Number(latest?.number) - Number(finalized?.number)).toBe(8)
})

test('with a block time, transactions share the next block instead of opening their own', async () => {
  const paced = await start({ chainId: 421614, blockTimeSeconds: 1 })
  const before = await reader(paced).getBlockNumber()

  await Promise.all([1n, 2n, 3n].map((usdcAtomic) => fund(paced, holder, { usdcAtomic })))

  expect(await reader(paced).getBlockNumber()).toBeLessThanOrEqual(before + 2n)
  expect(await balanceOf(paced, paced.usdc, holder)).toBe(6n)
})

test('blocks, balances and old receipts survive a stop and a start', async () => {
  const options = { chainId: 84532, stateFile: join(folder, 'restart.json') } as const
  const first = await start(options)
  await fund(first, holder, { usdcAtomic: 5n, eurcAtomic: 6n, weiAmount: 7n })
  const before = await snapshot(first)
  await first.stop()

  const second = await start(options)

  expect(await snapshot(second)).toEqual(before)
  await fund(second, holder, { usdcAtomic: 1n })
  expect(await balanceOf(second, second.usdc, holder)).toBe(6n)
  expect(await reader(second).getBlockNumber()).toBe(before.blockNumber + 1n)
})

test('a chain ends with its process, even a killed one, and keeps its state', async () => {
  const stateFile = join(folder, 'killed.json')
  const owner = spawn(process.execPath, ['--input-type=module', '-e', ownerScript, stateFile], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const rpcUrl = await new Promise<string>((resolve) => {
    owner.stdout.once('data', (line) => resolve(String(line).trim()))
  })

  owner.kill('SIGKILL')

  const isUp = (asked: Promise<unknown>) =>
    asked.then(
      () => true,
      () => false,
    )
  await expect.poll(() => isUp(fetch(rpcUrl))).toBe(false)
  await expect.poll(() => isUp(readJson(stateFile))).toBe(true)
  const next = await start({ chainId: 84532, stateFile })
  expect(await balanceOf(next, next.usdc, holder)).toBe(5n)
})

test('a port that is taken is named in the error', async () => {
  await expect(startChain({ chainId: 84532, port: base.port })).rejects.toThrow(
    new RegExp(`port ${base.port}.*in use`, 's'),
  )
})

const ownerScript = `
import { fund, startChain } from ${JSON.stringify(join(import.meta.dirname, '../../scripts/local/chain.ts'))}
const chain = await startChain({ chainId: 84532, stateFile: process.argv[1] })
await fund(chain, '${holder}', { usdcAtomic: 5n })
console.log(chain.rpcUrl)
setInterval(() => {}, 1000)`

async function start(options: ChainOptions): Promise<Chain> {
  const chain = await startChain(options)
  onTestFinished(() => chain.stop())
  return chain
}

async function readJson(file: string): Promise<unknown> {
  return JSON.parse(await readFile(file, 'utf8'))
}

async function snapshot(chain: Chain) {
  const client = reader(chain)
  const [block, usdc, wei, logs] = await Promise.all([
    client.getBlock(),
    balanceOf(chain, chain.usdc, holder),
    client.getBalance({ address: holder }),
    client.getLogs({ address: chain.usdc, fromBlock: 0n }),
  ])
  const hash = logs.at(-1)?.transactionHash ?? '0x'
  const receipt = await client.getTransactionReceipt({ hash })
  return { blockNumber: block.number, hash: block.hash, usdc, wei, logs: logs.length, receipt }
}

async function readToken(chain: Chain, address: Address) {
  const provider = new JsonRpcProvider(chain.rpcUrl, chain.chainId, { staticNetwork: true })
  onTestFinished(() => provider.destroy())
  const read = (name: string, type: string): Promise<unknown> =>
    new Contract(address, [`function ${name}() view returns (${type})`], provider).getFunction(
      name,
    )()
  const name = String(await read('name', 'string'))
  const version = String(await read('version', 'string'))
  const token = { name, version, symbol: await read('symbol', 'string') }
  const domain = { name, version, chainId: chain.chainId, verifyingContract: address }
  return {
    token: { ...token, decimals: await read('decimals', 'uint8') },
    separator: await read('DOMAIN_SEPARATOR', 'bytes32'),
    expected: TypedDataEncoder.hashDomain(domain),
  }
}

function reader({ rpcUrl }: Chain) {
  return createPublicClient({ transport: http(rpcUrl) })
}

function balanceOf(chain: Chain, token: Address, owner: Address): Promise<bigint> {
  return reader(chain).readContract({
    address: token,
    abi: erc20Abi,
    functionName: 'balanceOf',
    args: [owner],
  })
}
