/** Root keys of several versions, the keys in a database that they wrap, and programs that rotate them. */
import * as z from 'zod'
import { accountKeys, custodyKeys, type KeyRing } from '../../scripts/rotate-keys/key-ring.ts'
import { readEnvelope } from '../../shared/custody/accounts.ts'
import { openDatabase } from '../../shared/db/database.ts'
import { type Purpose, readRoots } from '../../shared/sealing/roots.ts'
import {
  unwrapKey,
  useThenWipe,
  type WrappedAccountKey,
  wrapSchema,
} from '../../shared/sealing/wrap.ts'
import { newAccountKey } from '../../shared/vault/envelope.ts'
import { project, type TestDatabase } from './database.ts'
import { randomBytes, randomUUID } from './seed.ts'

const secrets = Array.from({ length: 3 }, () => randomBytes(32).toString('base64'))

/** Returns the binding of these root versions, with the version that seals if one is named. */
export function rootKeys(versions: readonly number[], sealing?: number): string {
  const roots = Object.fromEntries(versions.map((version) => [version, secrets[version - 1]]))
  return JSON.stringify({ ...roots, sealing })
}

/** Returns all keys of the database, for a program that is bound to these roots. */
export function ringsOf(db: TestDatabase, roots: string): [KeyRing, KeyRing, KeyRing] {
  const { apiKey: SUPABASE_API_KEY, tokens } = project
  const access = { SUPABASE_URL: db.gatewayUrl, SUPABASE_API_KEY }
  const vault = openDatabase({ ...access, VAULT_DATABASE_KEY: tokens.vault }, fetch)
  const custody = openDatabase({ ...access, CUSTODY_DATABASE_KEY: tokens.custody }, fetch)
  return [
    accountKeys(vault, readRoots(roots, 'vault')),
    accountKeys(vault, readRoots(roots, 'mail')),
    custodyKeys(custody, readRoots(roots, 'custody')),
  ]
}

/** A wrapped key as it is stored, and the owner that it is bound to. */
export type StoredKey = { purpose: Purpose; id: string; owner: string; wrap: WrappedAccountKey }

const accountKeyRows = z.array(
  z.object({
    purpose: z.enum(['vault', 'mail']),
    id: z.string(),
    owner: z.string(),
    wrap: wrapSchema,
  }),
)
const custodyRows = z.array(
  z.object({ id: z.string(), owner: z.string(), envelope: z.unknown().transform(readEnvelope) }),
)

/** Reads every wrapped key. */
export async function storedKeys({ sql }: TestDatabase): Promise<StoredKey[]> {
  const ofAccounts = accountKeyRows.parse(
    await sql`select purpose, id, account as owner, wrap from private.account_keys order by id`,
  )
  const ofCustody = custodyRows.parse(
    await sql`select address as id, owner, envelope from private.custody_keys order by address`,
  )
  const wallets = ofCustody.map(({ id, owner, envelope: { wrap } }) => {
    return { purpose: 'custody' as const, id, owner, wrap }
  })
  return [...ofAccounts, ...wallets]
}

/** Returns the key in hex, opened with these roots only. */
export function keyInHex({ purpose, owner, wrap }: StoredKey, roots: string): string {
  return useThenWipe(unwrapKey(readRoots(roots, purpose), owner, wrap), (key) =>
    Buffer.from(key).toString('hex'),
  )
}

/** Adds inactive accounts that have a key for vault and mail. */
export async function addSleepers(
  { sql }: TestDatabase,
  roots: string,
  count: number,
): Promise<void> {
  const accounts = Array.from({ length: count }, (_, number) => {
    return { id: randomUUID(), alias: `sleeper-${number}` }
  })
  const keys = accounts.flatMap(({ id: account }) =>
    (['vault', 'mail'] as const).map((purpose) => {
      const wrap = newAccountKey(readRoots(roots, purpose), random, account)
      return { account, purpose, wrap }
    }),
  )
  await sql`insert into private.accounts (id, alias)
    select id, alias from jsonb_to_recordset(${sql.json(accounts)}) as a (id uuid, alias text)`
  await sql`insert into private.account_keys (account, purpose, wrap)
    select * from jsonb_to_recordset(${sql.json(keys)})
      as k (account uuid, purpose text, wrap jsonb)`
}

function random(length: number): Uint8Array {
  return new Uint8Array(randomBytes(length))
}
