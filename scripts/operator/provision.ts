/**
 * Opens accounts, keys and relayers for an operator, straight on the database. Wallet keys are made
 * and sealed here under the custody root, and leave this process only sealed.
 */
import { randomBytes } from 'node:crypto'
import type { Sql } from 'postgres'
import * as z from 'zod'
import { createApiKey, credentialOf, shownPart } from '../../shared/auth/api-key.ts'
import { hashPassword } from '../../shared/auth/password.ts'
import { createAccountKey, sealKey } from '../../shared/custody/accounts.ts'
import type { Roots } from '../../shared/sealing/roots.ts'
import type { World } from '../../shared/world.ts'

const random = (length: number) => new Uint8Array(randomBytes(length))

/** A new account with its wallet. */
export type OpenedAccount = { id: string; alias: string; address: `0x${string}` }

/** Opens an account with a new wallet. The alias must be free and in canonical form. */
export async function openAccount(sql: Sql, roots: Roots, alias: string): Promise<OpenedAccount> {
  const { address, privateKey } = createAccountKey(random)
  const [{ id } = { id: '' }] = z
    .array(z.object({ id: z.uuid() }))
    .parse(await sql`select gen_random_uuid()::text as id`)
  const envelope = sealKey(roots, random, { account: id, address }, privateKey)
  privateKey.fill(0)
  await sql`select private.open_account(${id}, ${alias}, ${address}, ${sql.json(envelope)})`
  return { id, alias, address }
}

/** Gives an account an owner, who signs in with this password. */
export async function openOwner(
  sql: Sql,
  world: World,
  owner: { account: string; email: string; password: string },
): Promise<void> {
  const hash = hashPassword(world, owner.password)
  await sql`insert into private.owners (account, email, password_hash)
    values (${owner.account}, ${owner.email}, ${hash})`
}

/** Settings of an API key. */
export type KeyOrder = {
  account: string
  label: string
  scopes: readonly string[]
  pepper: string
  kind: 'live' | 'test'
  /** Requests a second, and requests at once; 100 and 600 if absent. */
  rate?: { perSecond: number; burst: number }
}

/** Makes an API key and returns it. It cannot be read again later. */
export async function openApiKey(sql: Sql, order: KeyOrder): Promise<string> {
  const key = createApiKey(order.kind, random)
  const digest = await credentialOf(key, order.pepper)
  const { perSecond = 100, burst = 600 } = order.rate ?? {}
  await sql`select private.open_api_key(${order.account}, ${digest}, ${order.label},
    ${shownPart(key)}, ${[...order.scopes]}, ${perSecond}, ${burst})`
  return key
}

/** Chain of a relayer, and the nonce that it starts with. */
export type GasPayerOrder = { chainId: number; nonce: number }

/** Brings a new relayer into service on a chain. It still has to be funded with gas. */
export async function openGasPayer(
  sql: Sql,
  roots: Roots,
  order: GasPayerOrder,
): Promise<`0x${string}`> {
  const { address, privateKey } = createAccountKey(random)
  const envelope = sealKey(roots, random, { account: 'relayer', address }, privateKey)
  privateKey.fill(0)
  await sql`select private.open_gas_payer(${order.chainId}, ${address}, ${sql.json(envelope)},
    ${order.nonce})`
  return address
}

/** Gas terms to change; undefined ones stay as they are. */
export type GasTerms = {
  [Name in 'callsPerDay' | 'youngHours' | 'youngCallsPerDay' | 'leastUsdMicros']?:
    | bigint
    | undefined
}

/** Sets what relayers carry for one account on a chain. Chain 0 stands for those without terms. */
export async function setGasTerms(sql: Sql, chainId: bigint, terms: GasTerms): Promise<void> {
  const text = (value: bigint | undefined) => value?.toString() ?? null
  await sql`select private.set_gas_terms(${chainId.toString()}, ${text(terms.callsPerDay)},
    ${text(terms.youngHours)}, ${text(terms.youngCallsPerDay)}, ${text(terms.leastUsdMicros)})`
}

const gasTermsRows = z.array(
  z.object({
    chain: z.string(),
    calls_per_day: z.int(),
    young_hours: z.int(),
    young_calls_per_day: z.int(),
    least_usd_micros: z.string(),
  }),
)

/** Returns the gas terms of every chain that has some. */
export async function readGasTerms(sql: Sql) {
  return gasTermsRows.parse([...(await sql`select * from private.gas_terms order by chain`)])
}
