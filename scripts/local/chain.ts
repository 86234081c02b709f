/**
 * A local EVM chain that a payer cannot tell from the test network whose id it carries: the same chain
 * id, Circle's own token code at Circle's addresses, and Multicall3 at its usual one. It listens on
 * loopback only and ends with the process that started it.
 */
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import type { Address } from 'viem'
import { type LocalChainId, localTokens, type TokenChain } from './chain/fund.ts'
import { callRpc } from './chain/rpc.ts'
import { deployContracts } from './deploy.ts'
import { spawnTethered } from './process/tethered.ts'

export { blacklist, fund, pause, unblacklist, unpause } from './chain/fund.ts'

const startTimeoutMilliseconds = 20_000
const stateIntervalSeconds = 5

/** Settings of a local chain. */
export type ChainOptions = {
  chainId: LocalChainId
  /** Port to listen on; any free one if absent. */
  port?: number
  /** File that keeps blocks, balances and receipts between runs. */
  stateFile?: string
  /** Seconds between blocks. Without it, each transaction is mined at once in a block of its own. */
  blockTimeSeconds?: number
  /** True, with `blockTimeSeconds`, if transactions are mined at once and blocks come at that pace too. */
  mineAtOnce?: boolean
  /** Number of blocks whose state stays in memory; a reorganization must not go back further. */
  statesMax?: number
}

/** A running chain. */
export type Chain = TokenChain & {
  chainId: LocalChainId
  /** Identifier by CAIP-2. */
  network: `eip155:${LocalChainId}`
  port: number
  stop: () => Promise<void>
}

/** Starts the chain and deploys what its state does not hold yet. */
export async function startChain(options: ChainOptions): Promise<Chain> {
  const { chainId, port = 0 } = options
  // States of old blocks go there. A chain that is killed would leave them in the home folder.
  const states = await mkdtemp(join(tmpdir(), 'aoa-chain-'))
  const anvil = spawnTethered(findAnvil(), [...anvilArguments(options), '--cache-path', states])
  const stop = async () => {
    await anvil.stop()
    await rm(states, { recursive: true, force: true })
  }
  try {
    const [, listening] = await anvil.waitForOutput(
      /Listening on 127\.0\.0\.1:(\d+)/,
      startTimeoutMilliseconds,
    )
    const rpcUrl = `http://127.0.0.1:${listening}`
    await callRpc(rpcUrl, [['anvil_setLoggingEnabled', false]])
    await deployContracts(rpcUrl, localTokens[chainId])
    await setPace(rpcUrl, options)
    const described = { chainId, network: `eip155:${chainId}` as const, rpcUrl }
    return { ...described, port: Number(listening), ...addresses(chainId), stop }
  } catch (error) {
    await stop()
    const reason = error instanceof Error ? error.message : String(error)
    throw new Error(`chain ${chainId} did not start on port ${port || '(any)'}: ${reason}`)
  }
}

function anvilArguments({ chainId, port = 0, stateFile, ...options }: ChainOptions): string[] {
  // Short epochs bring the `safe` and `finalized` tags within reach: 4 and 8 blocks behind the latest.
  const fixed = ['--host', '127.0.0.1', '--color', 'never', '--slots-in-an-epoch', '4']
  const state = stateFile
    ? ['--state', stateFile, '--state-interval', `${stateIntervalSeconds}`]
    : []
  const mixed =
    options.blockTimeSeconds && options.mineAtOnce
      ? ['--mixed-mining', '--block-time', `${options.blockTimeSeconds}`]
      : []
  // Anvil writes all but some hundreds of states to disk, and those lose the contracts' code.
  const states = options.statesMax ? ['--prune-history', `${options.statesMax}`] : []
  const own = ['--port', `${port}`, '--chain-id', `${chainId}`]
  return [...fixed, ...own, ...state, ...mixed, ...states]
}

/** Sets the pace after deployment, which would otherwise wait a block for each of its steps. */
async function setPace(rpcUrl: string, { blockTimeSeconds, mineAtOnce }: ChainOptions) {
  if (!blockTimeSeconds || mineAtOnce) return
  await callRpc(rpcUrl, [['anvil_setIntervalMining', blockTimeSeconds]])
}

function addresses(chainId: LocalChainId): { usdc: Address; eurc?: Address } {
  const of = (symbol: string) => localTokens[chainId].find((token) => token.symbol === symbol)
  const usdc = of('USDC')
  if (!usdc) throw new Error(`no USDC is known for chain ${chainId}`)
  const eurc = of('EURC')
  return { usdc: usdc.address, ...(eurc && { eurc: eurc.address }) }
}

function findAnvil(): string {
  try {
    return createRequire(import.meta.url).resolve('@foundry-rs/anvil-linux-amd64/bin/anvil')
  } catch {
    const folders = (process.env['PATH'] ?? '').split(delimiter)
    const found = folders.map((folder) => join(folder, 'anvil')).find((path) => existsSync(path))
    if (found) return found
    throw new Error(
      'anvil is missing: install the optional dependency @foundry-rs/anvil-linux-amd64, or put anvil of https://getfoundry.sh on PATH',
    )
  }
}
