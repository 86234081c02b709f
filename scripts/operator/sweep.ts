/** Sends the gas that a relayer holds to another address, as when it is taken out of service. */
import type { Sql, TransactionSql } from 'postgres'
import {
  type Address,
  createPublicClient,
  createWalletClient,
  formatEther,
  http,
  isAddress,
  toHex,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import * as z from 'zod'
import { openKey, readEnvelope } from '../../shared/custody/accounts.ts'
import { readRoots } from '../../shared/sealing/roots.ts'
import { readSecrets, type Settings } from '../serve/settings.ts'
import type { ReportRow } from './reports.ts'

const transferGas = 21_000n
/** Part of the balance that stays for what a rollup charges for the transaction's data. */
const keptPart = 100n

const gasPayerRow = z.object({ chain: z.int(), nonce: z.int(), envelope: z.unknown() })

/** Parties of a sweep. */
export type Sweep = { relayer: string; to: string | undefined }

/** Sends what a relayer holds. Refuses one with transactions in flight, and lets it take none meanwhile. */
export async function sweep(
  sql: Sql,
  settings: Pick<Settings, 'directory' | 'rpc'>,
  { relayer, to }: Sweep,
): Promise<ReportRow[]> {
  // A mistyped address has a wrong checksum.
  if (to === undefined || !isAddress(to)) throw new Error('--to takes an address in EIP-55 form')
  return sql.begin(async (tx) => {
    const gasPayer = await lockIdle(tx, relayer)
    const url = settings.rpc[`eip155:${gasPayer.chain}`]?.[0]
    if (url === undefined) throw new Error(`give an endpoint of chain ${gasPayer.chain} with --rpc`)
    const sent = await sendAll(
      url,
      accountOf(settings, relayer, gasPayer.envelope),
      gasPayer.nonce,
      to,
    )
    // It carries nothing more before housekeeping sees that it holds gas again.
    await tx`update private.gas_payers set next_nonce = ${gasPayer.nonce + 1}, mined_nonce = ${gasPayer.nonce + 1},
        reported_wei = null, paused_for = 'unfunded'
      where chain = ${gasPayer.chain} and address = ${relayer}`
    return [{ relayer, to, ...sent }]
  })
}

async function lockIdle(tx: TransactionSql, relayer: string) {
  const [row] = await tx`
    select g.chain::int, g.next_nonce::int as nonce, k.envelope
      from private.gas_payers g join private.custody_keys k on k.address = g.address and k.owner = 'relayer'
     where g.address = ${relayer} and g.kind = 'relayer'
       and (g.leased_until is null or g.leased_until <= private.clock())
       and not exists (select from private.relay_slots s
         where s.chain = g.chain and s.gas_payer = g.address and s.state = 'open')
       for update of g skip locked`
  if (row) return gasPayerRow.parse(row)
  throw new Error(`${relayer} is no relayer, or has transactions in flight; try again later`)
}

function accountOf({ directory }: Pick<Settings, 'directory'>, relayer: string, envelope: unknown) {
  const { CUSTODY_ROOT_KEYS: keys = '' } = readSecrets(directory, 'custody')
  const binding = { account: 'relayer', address: relayer }
  const key = openKey(readRoots(keys, 'custody'), binding, readEnvelope(envelope))
  return privateKeyToAccount(toHex(key))
}

async function sendAll(
  url: string,
  account: ReturnType<typeof privateKeyToAccount>,
  nonce: number,
  to: Address,
) {
  const reader = createPublicClient({ transport: http(url) })
  const [count, balance, { maxFeePerGas, maxPriorityFeePerGas }] = await Promise.all([
    reader.getTransactionCount({ address: account.address }),
    reader.getBalance({ address: account.address }),
    reader.estimateFeesPerGas(),
  ])
  if (count !== nonce)
    throw new Error(`the chain counts ${count} transactions, not ${nonce}; try again later`)
  const value = balance - balance / keptPart - transferGas * maxFeePerGas
  if (value <= 0n) throw new Error(`${account.address} holds no more than the gas of one transfer`)
  const sender = createWalletClient({ account, transport: http(url) })
  const fees = { gas: transferGas, maxFeePerGas, maxPriorityFeePerGas }
  const hash = await sender.sendTransaction({ chain: null, to, value, nonce, ...fees })
  await reader.waitForTransactionReceipt({ hash })
  return { amount: formatEther(value), transaction: hash }
}
