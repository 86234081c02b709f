/** The chain of a play: its mining, and the outflows of a wallet in the current blocks. */
import * as z from 'zod'
import { callRpc } from '../../../scripts/local/chain/rpc.ts'
import type { Chain } from '../../../scripts/local/chain.ts'
import { crowdAddresses } from './contracts.ts'

/** Money that left a wallet, with the time of its block. */
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

/** Number of blocks, deeper than any reorganization of a play. */
const settledBlocks = 24

export type Outflows = {
  /** Returns all outflows of the wallet, oldest first, without those in replaced blocks. */
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

/** Mines blocks at the current time. */
export async function mine({ rpcUrl }: Chain, blocks = 1): Promise<void> {
  await callRpc(rpcUrl, [['anvil_mine', toHex(blocks)]])
}

/** Returns the atomic USDC of an address. */
export async function balanceOf({ rpcUrl, usdc }: Chain, address: string): Promise<bigint> {
  const data = `0x70a08231${address.slice(2).toLowerCase().padStart(64, '0')}`
  const [held] = await callRpc(rpcUrl, [['eth_call', { to: usdc, data }, 'latest']])
  return quantity.parse(held)
}

/** Sender of the thief's side's transactions; the node signs for it. */
export const sender = '0x90F79bf6EB2c4f870365E785982E1f101E93b906'

/** Last submission to each node's pool; two at once might get the same nonce. */
const given = new Map<string, Promise<unknown>>()

/** Submits a transaction to the pool, which may revert when it is mined, and returns its hash. */
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
  const before = given.get(rpcUrl) ?? Promise.resolve()
  const sent = before.then(() => callRpc(rpcUrl, [['eth_sendTransaction', order]]))
  given.set(
    rpcUrl,
    sent.catch(() => undefined),
  )
  const [hash] = await sent
  return z.string().parse(hash)
}

/** Returns the address of the crowd contract with this number. */
export function crowdAt(which: number): string {
  return crowdAddresses[which % crowdAddresses.length] ?? crowdAddresses[0]
}

function toHex(value: number): string {
  return `0x${value.toString(16)}`
}
