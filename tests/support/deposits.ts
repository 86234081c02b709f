/**
 * Money from outside the service: payers whose transactions can be put into any block, the table of
 * deposits, and a slow, obvious way to compute what the table must contain.
 */
import { AbiCoder, getAddress, Interface, id as keccakOfText } from 'ethers'
import * as z from 'zod'
import { callRpc, transact } from '../../scripts/local/chain/rpc.ts'
import { fund } from '../../scripts/local/chain.ts'
import type { Hex } from '../../shared/chains/hex.ts'
import type { Fetch } from '../../shared/world.ts'
import { hex, known, newKey, sign, transfer } from './chain-world.ts'
import { type Agent, finalize, type TestWorld } from './world.ts'

const { chain: network, usdc } = known('eip155:84532')

/** A signed payment of atomic USDC to a wallet, whose payer makes no other payment. */
export type Payment = { raw: Hex; hash: Hex; to: string; value: bigint }

/** Signs payments with a separate payer each, so that each can go into any block or none. */
export async function signedPayments(world: TestWorld, to: readonly Agent[]): Promise<Payment[]> {
  const payments: Payment[] = []
  for (const [at, agent] of to.entries()) {
    const payer = newKey()
    const value = BigInt(1_000_000 + at)
    await fund(world.chain, payer.at, { weiAmount: 10n ** 18n, usdcAtomic: value })
    const data = transfer(agent.address, value)
    const outer = { to: usdc.address, data, nonce: 0 }
    payments.push({ ...(await sign(network, payer, outer)), to: agent.address, value })
  }
  await finalize(world.chain)
  return payments
}

/** Mines one block that holds exactly these payments. */
export async function mine(world: TestWorld, payments: readonly Payment[] = []): Promise<void> {
  const { rpcUrl } = world.chain
  await callRpc(rpcUrl, [['evm_setAutomine', false]])
  for (const { raw } of payments) await callRpc(rpcUrl, [['eth_sendRawTransaction', raw]])
  await callRpc(rpcUrl, [['evm_mine']])
  await callRpc(rpcUrl, [['evm_setAutomine', true]])
}

/** Replaces the newest blocks; `placed` says which payments each new block holds. */
export async function reorg(
  world: TestWorld,
  depth: number,
  placed: readonly (readonly [Payment, number])[] = [],
): Promise<void> {
  const pairs = placed.map(([{ raw }, at]) => [raw, at])
  await callRpc(world.chain.rpcUrl, [['anvil_reorg', depth, pairs]])
}

/** Sends a transaction to a contract from an address whose key is not needed. */
export async function sendAs(world: TestWorld, from: Hex, data: Hex, to: Hex = usdc.address) {
  await fund(world.chain, from, { weiAmount: 10n ** 18n })
  await callRpc(world.chain.rpcUrl, [['anvil_impersonateAccount', from]])
  return transact(world.chain.rpcUrl, from, to, data)
}

/** Mints atomic USDC and pays it from an address whose key is not needed. */
export async function payAs(world: TestWorld, from: Hex, to: string, value: bigint) {
  if (value > 0n) await fund(world.chain, from, { usdcAtomic: value })
  return sendAs(world, from, transfer(hex(to), value))
}

/** Returns another address with the same first and last four digits. */
export function lookAlike(address: string): Hex {
  const middle = newKey().address.slice(6, 38)
  return hex(getAddress(`${address.slice(0, 6)}${middle}${address.slice(38)}`.toLowerCase()))
}

export type Standing = { wallet: string; sender: string; amount: string; place: string }

/** Returns the deposits that the table shows as on the chain, in chain order. */
export async function bookedDeposits(world: TestWorld): Promise<Standing[]> {
  return world.db.sql<Standing[]>`
    select wallet, sender, amount_atomic::text as amount,
      concat_ws(' ', block_number, block_hash, tx_hash, log_index) as place
    from private.deposits where not reorged order by block_number, log_index`
}

/** Returns each deposit in feed order, and whether it was taken back. */
export async function depositsInFeed(world: TestWorld, { id }: Agent): Promise<string[]> {
  const rows = await world.db.sql<{ told: string }[]>`
    select d.tx_hash || case when d.reorged then ' reorged' else '' end as told
    from private.activities a join private.deposits d on d.id = a.deposit
    where a.account = ${id} order by a.id`
  return rows.map(({ told }) => told)
}

const receipts = z.array(
  z.object({
    logs: z.array(
      z.object({
        address: z.string(),
        topics: z.array(z.string()),
        data: z.string(),
        blockNumber: z.string(),
        blockHash: z.string(),
        transactionHash: z.string(),
        logIndex: z.string(),
      }),
    ),
  }),
)
export const transferTopic = keccakOfText('Transfer(address,address,uint256)')
export const useTopic = keccakOfText('AuthorizationUsed(address,bytes32)')

/** Reads every receipt of every block above `after` and returns the logs that are deposits. */
export async function scanChain(
  world: TestWorld,
  agents: readonly Agent[],
  after: number,
): Promise<Standing[]> {
  const standing: Standing[] = []
  for (let block = after + 1; block <= (await headOf(world)); block += 1) {
    const height = `0x${block.toString(16)}`
    const [answer] = await callRpc(world.chain.rpcUrl, [['eth_getBlockReceipts', height]])
    for (const log of receipts.parse(answer).flatMap(({ logs }) => logs)) {
      const [topic, from = '', to = ''] = log.topics
      if (topic !== transferTopic || getAddress(log.address) !== usdc.address) continue
      const [sender, wallet] = [from, to].map((word) => getAddress(`0x${word.slice(26)}`))
      if (!sender || !wallet || sender === wallet) continue
      if (!agents.some(({ address }) => address === wallet)) continue
      const place = [block, log.blockHash, log.transactionHash, Number(log.logIndex)].join(' ')
      const [amount] = AbiCoder.defaultAbiCoder().decode(['uint256'], log.data)
      standing.push({ wallet, sender, amount: String(amount), place })
    }
  }
  return standing
}

/** Returns the number of the newest block. */
export async function headOf(world: TestWorld): Promise<number> {
  const [head] = await callRpc(world.chain.rpcUrl, [['eth_blockNumber']])
  return Number(head)
}

const filterSchema = z.object({ fromBlock: z.string(), toBlock: z.string(), topics: z.unknown() })
const bodySchema = z.array(z.object({ id: z.int(), method: z.string(), params: z.unknown() }))
export type LogsAsked = { blocks: number; topics: unknown }

/** Returns a network on which a node may refuse to read logs; `refuse` returns the error, or undefined. */
export function refusing(fetch: Fetch, refuse: (asked: LogsAsked) => string | undefined): Fetch {
  return async (input, init) => {
    const body = typeof init?.body === 'string' ? init.body : ''
    if (!body.includes('eth_getLogs')) return fetch(input, init)
    const calls = bodySchema.parse(JSON.parse(body))
    const [filter] = z.tuple([filterSchema]).parse(calls[0]?.params)
    const blocks = Number(filter.toBlock) - Number(filter.fromBlock) + 1
    const message = refuse({ blocks, topics: filter.topics })
    if (message === undefined) return fetch(input, init)
    const error = { code: -32005, message }
    return Response.json(calls.map(({ id }) => ({ jsonrpc: '2.0', id, error })))
  }
}

const forms = new Interface(['function transferFrom(address,address,uint256)'])

/** Returns calldata of transferFrom, which anyone may send for a value of zero. */
export function transferFrom(from: string, to: string, value: bigint): Hex {
  return hex(forms.encodeFunctionData('transferFrom', [from, to, value]))
}
