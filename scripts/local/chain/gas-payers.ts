/**
 * The relayers of a local chain. Chain and database are saved separately, so after a crash the chain
 * may be older. Slots that it lost are opened again, and housekeeping sends their stored bytes.
 */
import type { Sql } from 'postgres'
import * as z from 'zod'
import type { Roots } from '../../../shared/sealing/roots.ts'
import { openGasPayer } from '../../operator/provision.ts'
import type { Chain } from '../chain.ts'
import { fund } from './fund.ts'
import { callRpc } from './rpc.ts'

const gasPayersPerChain = 4
const gasWei = 10n ** 20n

const address = z.custom<`0x${string}`>((value) => /^0x[0-9a-fA-F]{40}$/.test(String(value)))
const gasPayerRows = z.array(z.object({ address, kind: z.string() }))
const quantity = z.string().transform((hex) => BigInt(hex))
const headSchema = z.object({ number: quantity, hash: z.string() })

/** The differences between database and chain that were found at a start. */
export type GasPayerRepair = {
  /** Number of slots whose transaction has to be sent again. */
  reopened: number
  /** Number of payments whose block the chain no longer has. */
  orphaned: number
}

/** Makes sure that the chain has funded relayers, and that no slot counts as mined unless it is. */
export async function readyGasPayers(
  sql: Sql,
  roots: Roots,
  chain: Chain,
): Promise<GasPayerRepair> {
  const orphaned = await countOrphans(sql, chain)
  const rows = await sql`
    select address, kind from private.gas_payers where chain = ${chain.chainId}`
  const gasPayers = gasPayerRows.parse([...rows])
  let reopened = 0
  for (const gasPayer of gasPayers) reopened += await reopen(sql, chain, gasPayer.address)
  const relayers = gasPayers
    .filter(({ kind }) => kind === 'relayer')
    .map((gasPayer) => gasPayer.address)
  while (relayers.length < gasPayersPerChain) {
    relayers.push(await openGasPayer(sql, roots, { chainId: chain.chainId, nonce: 0 }))
  }
  for (const relayer of relayers) await fundGasPayer(chain, relayer)
  await beginReading(sql, chain)
  return { reopened, orphaned }
}

/** Begins to read a chain's transfers at its latest block, as housekeeping does at its first look. */
export async function beginReading(sql: Sql, { chainId, rpcUrl }: Chain): Promise<void> {
  const [latest] = await callRpc(rpcUrl, [['eth_getBlockByNumber', 'latest', false]])
  const { number, hash } = headSchema.parse(latest)
  const at = number.toString()
  await sql`insert into private.transfer_cursors (chain, began_after, finalized_through, seen_through,
      head_number, head_hash, safe_block)
    values (${chainId}, ${at}, ${at}, ${at}, ${at}, ${hash}, ${at}) on conflict do nothing`
}

/** Gives a relayer gas. */
export async function fundGasPayer(chain: Chain, gasPayer: `0x${string}`): Promise<void> {
  await fund(chain, gasPayer, { weiAmount: gasWei })
}

async function countOrphans(sql: Sql, chain: Chain): Promise<number> {
  const [latest] = await callRpc(chain.rpcUrl, [['eth_blockNumber']])
  const rows = await sql`select id from private.payments
    where chain = ${chain.chainId} and block_number > ${quantity.parse(latest).toString()}`
  return rows.length
}

/** Reopens the slots that an older chain has not mined. Only a local chain can lose final blocks. */
async function reopen(sql: Sql, chain: Chain, gasPayer: string): Promise<number> {
  const [count] = await callRpc(chain.rpcUrl, [['eth_getTransactionCount', gasPayer, 'latest']])
  const rows = await sql`
    update private.relay_slots set state = 'open', block_number = null, block_hash = null
     where chain = ${chain.chainId} and gas_payer = ${gasPayer} and state in ('mined', 'final')
       and nonce >= ${quantity.parse(count).toString()} returning id`
  return rows.length
}
