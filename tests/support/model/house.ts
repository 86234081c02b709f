/** A ledger with relayers and three accounts that know each other, for tests of the SQL functions alone. */
import { isDeepStrictEqual } from 'node:util'
import { randomUUID } from '../seed.ts'
import { type Ledger, newDigest } from './ledger.ts'

export type House = {
  chain: number
  /** Unix seconds. */
  now: number
  keys: { account: string; credential: string }[]
  gasPayers: string[]
}

const chain = 84532
const now = 1_800_000_000
const aliases = ['ada', 'bob', 'eve']
const gasPayerCount = 3
/** Gas terms that no test reaches. */
export const plentyOfGas = 'insert into private.gas_terms values (0, 1000000, 0, 1000000, 0)'

/** Position of a chain whose transfers are read, without which nothing is signed. */
export const readingBegun = `insert into private.transfer_cursors (chain, began_after,
    finalized_through, seen_through, head_number, head_hash, safe_block)
  values (${chain}, 0, 0, 0, 0, '0x${'0'.repeat(64)}', 0)`

export const tokens = [`0x${'1'.repeat(40)}`, `0x${'2'.repeat(40)}`] as const

/** Empties the ledger and opens the gas payers and the accounts, each with a key that pays and a session. */
export async function openHouse(ledger: Ledger): Promise<House> {
  const accounts = aliases.map((alias, at) => ({
    id: randomUUID(),
    alias,
    wallet: `0x${String(at + 1).padStart(40, '7')}`,
  }))
  const keys = accounts.map(({ id }) => ({ account: id, credential: newDigest() }))
  const gasPayers = Array.from(
    { length: gasPayerCount },
    (_, at) => `0x${String(at + 1).padStart(40, '6')}`,
  )
  await ledger.clear()
  await ledger.setClock(now)
  await ledger.query(plentyOfGas)
  await ledger.query(readingBegun)
  for (const { id, alias, wallet } of accounts) {
    await ledger.query("select private.open_account($1, $2, $3, '{}')", [id, alias, wallet])
  }
  for (const gasPayer of gasPayers) {
    await ledger.query(`select private.open_gas_payer(${chain}, $1, '{}', 0)`, [gasPayer])
  }
  for (const { account, credential } of keys) await introduce(ledger, account, credential)
  return { chain, now, keys, gasPayers }
}

/** Adds a key with a rate that no test reaches, and a session that knows all wallets and the key's device. */
async function introduce(ledger: Ledger, account: string, credential: string): Promise<void> {
  const [key, session] = [randomUUID(), randomUUID()]
  await ledger.query(
    `insert into private.credentials
       (id, account, digest, label, shown, scopes, burst, per_second)
     values ($1, $2, $3, 'model', '', array['pay'], 1000000, 1000000)`,
    [key, account, credential],
  )
  await ledger.query(
    `insert into private.credentials (id, account, kind, digest, label, shown, scopes)
     values ($1, $2, 'session', $3, 'model', '', array['owner'])`,
    [session, account, newDigest()],
  )
  await ledger.query(
    `insert into private.known_recipients (account, chain_family, address, session)
     select $1, 'evm', w.address, $2 from private.wallets w`,
    [account, session],
  )
  await ledger.query(
    `insert into private.known_devices (account, key, fingerprint, session)
     values ($1, $2, 'laptop', $3)`,
    [account, key, session],
  )
}

/** Throws if two values differ. */
export function agree(what: string, told: unknown, wanted: unknown): void {
  if (isDeepStrictEqual(told, wanted)) return
  throw new Error(`${what}: found\n${show(told)}\nand wanted\n${show(wanted)}`)
}

const show = (value: unknown) => JSON.stringify(value, undefined, 1)
