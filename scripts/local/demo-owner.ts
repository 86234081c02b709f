/**
 * The demo owner of a local world and the payee: accounts, one API key per scope, and funds. All of it is
 * opened once and found again on the next start.
 */
import type { Sql } from 'postgres'
import * as z from 'zod'
import { credentialOf } from '../../shared/auth/api-key.ts'
import type { Roots } from '../../shared/sealing/roots.ts'
import type { World } from '../../shared/world.ts'
import { openAccount, openApiKey, openOwner } from '../operator/provision.ts'
import { fund } from './chain/fund.ts'
import { callRpc } from './chain/rpc.ts'
import type { Chain } from './chain.ts'
import type { Secrets } from './secrets.ts'

/** Mail address by which the demo owner signs in. */
export const ownerEmail = 'owner@demo.example'

/** One API key for each scope. */
export type ApiKeys = { read: string; pay: string; full: string }

const usdcAtomic = 1_000_000_000n
const eurcAtomic = 500_000_000n
const unit = 10n ** 6n

const address = z.custom<`0x${string}`>((value) => /^0x[0-9a-fA-F]{40}$/.test(String(value)))
const accountRows = z.array(z.object({ id: z.uuid(), alias: z.string(), address }))
/** An account with its alias and wallet address. */
export type Account = z.output<typeof accountRows>[number]

/** Returns the account with this alias, and opens it if there is none. */
export async function ownedAccount(sql: Sql, roots: Roots, alias: string): Promise<Account> {
  const rows = await sql`select a.id, a.alias, w.address
    from private.accounts a join private.wallets w on w.account = a.id where a.alias = ${alias}`
  const [found] = accountRows.parse([...rows])
  return found ?? openAccount(sql, roots, alias)
}

/** Opens the account's owner if there is none. A password that was changed in the app stays as it is. */
export async function readyOwner(
  sql: Sql,
  world: World,
  { id }: Account,
  password: string,
): Promise<void> {
  const known = await sql`select from private.owners where account = ${id}`
  if (known.length === 0) await openOwner(sql, world, { account: id, email: ownerEmail, password })
}

/** Decides whether the database already holds wallets, which only their own custody root can open. */
export async function holdsWallets(sql: Sql): Promise<boolean> {
  return (await sql`select from private.wallets limit 1`).length > 0
}

/** Returns the kept keys, and new ones in place of those that the database does not know. */
export async function ownedKeys(sql: Sql, account: Account, secrets: Secrets): Promise<ApiKeys> {
  const keyFor = async (scope: keyof ApiKeys) => {
    const { api_key_pepper: pepper, api_keys: kept } = secrets
    const key = kept[scope]
    if (key && (await isKnown(sql, await credentialOf(key, pepper)))) return key
    const order = { account: account.id, label: `demo ${scope}`, scopes: [scope], pepper }
    return openApiKey(sql, { ...order, kind: 'test' })
  }
  return { read: await keyFor('read'), pay: await keyFor('pay'), full: await keyFor('full') }
}

async function isKnown(sql: Sql, digest: string): Promise<boolean> {
  const rows = await sql`select from private.credentials where digest = ${digest}
    and revoked_at is null`
  return rows.length > 0
}

/** Mints to a wallet that holds no USDC on this chain, because it is new or was emptied. */
export async function fillWallet(chain: Chain, owner: Account): Promise<boolean> {
  const data = `0x70a08231${owner.address.slice(2).toLowerCase().padStart(64, '0')}`
  const [held] = await callRpc(chain.rpcUrl, [['eth_call', { to: chain.usdc, data }, 'latest']])
  if (BigInt(z.string().parse(held)) > 0n) return false
  await fund(chain, owner.address, { usdcAtomic, ...(chain.eurc ? { eurcAtomic } : {}) })
  return true
}

/** Describes what `fillWallet` mints. */
export function fillingOf(chain: Chain): string {
  const usdc = `${usdcAtomic / unit} USDC`
  return chain.eurc ? `${usdc} and ${eurcAtomic / unit} EURC` : usdc
}
