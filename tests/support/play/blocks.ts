/** The chain of a play: what is mined when, and what left a wallet by the blocks that stand now. */
import * as z from 'zod'
import type { Chain } from '../../../scripts/local/chain.ts'
import { callRpc } from '../../../scripts/local/rpc.ts'
import { crowdAddresses } from './contracts.ts'

/** Money that left a wallet, with the time of the block that took it. */
export type Outflow = { at: number; value: bigint; to: string; block: number; tx: string }

const quantity = z.string().transform(BigInt)
const transferTopic = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
const logs = z.array(
  z.object({
    blockNumber: quantity,
    blockTimestamp: quantity,
    transactionHash: z.string(),
    topics: z.tuple([z.string(), z.string(), z.string()]),
    data: quantity,
  }),
)

/** Deeper than any reorganization of a play. */
const settledBlocks = 24

export type Outflows = {
  /** All of the wallet's, oldest first; those in blocks that were replaced are gone from it. */
  read(): Promise<readonly Outflow[]>
}

/** Watches a wallet from now on at the node itself. */
export async function watchOutflows(chain: Chain, wallet: string): Promise<Outflows> {
  let through = (await headOf(chain)) - 1
  const old: Outflow[] = []
  const padded = `0x${wallet.slice(2).toLowerCase().padStart(64, '0')}`
  const read = async (): Promise<readonly Outflow[]> => {
    const filter = {
      address: chain.usdc,
      topics: [transferTopic, padded],
      fromBlock: toHex(through + 1),
      toBlock: 'latest',
    }
    const [found, head] = await callRpc(chain.rpcUrl, [
      ['eth_getLogs', filter],
      ['eth_blockNumber'],
    ])
    const young = logs
      .parse(found)
      .filter(({ data }) => data > 0n)
      .map(outflowOf)
    const last = Number(quantity.parse(head)) - settledBlocks
    if (last <= through) return [...old, ...young]
    old.push(...young.filter(({ block }) => block <= last))
    through = last
    return [...old, ...young.filter(({ block }) => block > last)]
  }
  return { read }
}

function outflowOf(log: z.output<typeof logs>[number]): Outflow {
  return {
    at: Number(log.blockTimestamp),
    value: log.data,
    to: `0x${log.topics[2].slice(26)}`,
    block: Number(log.blockNumber),
    tx: log.transactionHash,
  }
}

export async function headOf({ rpcUrl }: Chain): Promise<number> {
  const [head] = await callRpc(rpcUrl, [['eth_blockNumber']])
  return Number(quantity.parse(head))
}

/** Blocks of the time that it is. */
export async function mine({ rpcUrl }: Chain, blocks = 1): Promise<void> {
  await callRpc(rpcUrl, [['anvil_mine', toHex(blocks)]])
}

/** Atomic USDC of an address. */
export async function balanceOf({ rpcUrl, usdc }: Chain, address: string): Promise<bigint> {
  const data = `0x70a08231${address.slice(2).toLowerCase().padStart(64, '0')}`
  const [held] = await callRpc(rpcUrl, [['eth_call', { to: usdc, data }, 'latest']])
  return quantity.parse(held)
}

/** Who sends what the thief's side sends; the node signs for it. */
export const sender = '0x90F79bf6EB2c4f870365E785982E1f101E93b906'

/** Gives a transaction to the pool; it may revert when it is mined. Answers its hash. */
export async function submit(
  { rpcUrl }: Chain,
  { target, data }: { target: string; data: string },
  gas = 3_000_000,
): Promise<string> {
  const fees = {
    maxFeePerGas: toHex(50_000_000_000_000),
    maxPriorityFeePerGas: toHex(2_000_000_000),
  }
  const order = { from: sender, to: target, data, gas: toHex(gas), ...fees }
  const [hash] = await callRpc(rpcUrl, [['eth_sendTransaction', order]])
  return z.string().parse(hash)
}

/** The contract that the `which`th crowd is. */
export function crowdAt(which: number): string {
  return crowdAddresses[which % crowdAddresses.length] ?? crowdAddresses[0]
}

function toHex(value: number): string {
  return `0x${value.toString(16)}`
}
