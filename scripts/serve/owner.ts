/** The acts of an operator on the database itself: the first owner's link, and relayers for new chains. */
import { createHash, randomBytes } from 'node:crypto'
import type { Sql } from 'postgres'
import { fail } from '../../shared/contract/errors.ts'
import { refuse } from '../../shared/http/answer.ts'
import { type Roots, readRoots } from '../../shared/sealing/roots.ts'
import { newId } from '../../shared/world.ts'
import { openGasPayer } from '../operator/provision.ts'
import { connectTo } from '../program/connect.ts'
import { readSecrets, type Settings } from './settings.ts'

/** A relayer that carries payments on a chain and has to hold gas. */
export type Relayer = { chain: string; address: string }

/** Runs work with one connection of the database's owner. */
export async function asOwner<Result>(
  url: string,
  work: (sql: Sql) => Promise<Result>,
): Promise<Result> {
  const sql = connectTo(url)
  try {
    return await work(sql)
  } finally {
    await sql.end({ timeout: 5 })
  }
}

/** Returns true if the service has no account yet. */
export async function hasNoAccount(sql: Sql): Promise<boolean> {
  const [row] = await sql<{ none: boolean }[]>`
    select not exists (select from private.owners) as none`
  return row?.none ?? false
}

/** Makes a link that opens one account within 30 minutes. The address is what its owner signs in with. */
export async function invite(sql: Sql, email: string): Promise<string> {
  const link = randomBytes(32).toString('base64url')
  const digest = (text: string) => createHash('sha256').update(text).digest('hex')
  // Nobody is sent a code for this link, so the digest of the code is of nothing that could be guessed.
  await sql`insert into private.signups
      (email, code_digest, network, wide_network, link_digest, confirmed_at)
    values (${email}, ${digest(randomBytes(32).toString('hex'))}, 'operator', 'operator',
      ${digest(link)}, private.clock())`
  return link
}

/** Makes sure that each chain has a relayer. The custody roots are read for the chains that have none. */
export async function readyRelayers(
  sql: Sql,
  rootsOf: () => Roots | Promise<Roots>,
  networks: readonly string[],
): Promise<Relayer[]> {
  const relayers: Relayer[] = []
  for (const chain of networks) {
    const chainId = Number(chain.slice('eip155:'.length))
    const [found] = await sql<{ address: string }[]>`
      select address from private.gas_payers where chain = ${chainId} and kind = 'relayer' limit 1`
    relayers.push({
      chain,
      address: found?.address ?? (await openGasPayer(sql, await rootsOf(), { chainId, nonce: 0 })),
    })
  }
  return relayers
}

/** Returns the chains on which nothing is signed yet, because the service was restored from a backup. */
export async function chainsBehind(sql: Sql, networks: readonly string[]): Promise<string[]> {
  const rows = await sql<{ chain: string }[]>`
    select n.chain from unnest(${[...networks]}::text[]) n (chain)
     where not private.has_caught_up(split_part(n.chain, ':', 2)::bigint)`
  return rows.map(({ chain }) => chain)
}

/** Returns the custody roots of a service of one machine. */
export function custodyRootsIn(directory: string): Roots {
  const { CUSTODY_ROOT_KEYS: keys = '' } = readSecrets(directory, 'custody')
  return readRoots(keys, 'custody')
}

/** Paths by which a stranger begins to open an account; a link of the operator does not need them. */
const beginning = ['/request-signup-verification', '/confirm-registration-code', '/web/join']

/** Returns the answer to a request that begins a sign-up, unless sign-up is open. */
export function closedTo(
  signup: Settings['signup'],
): (request: Request, path: string) => Response | undefined {
  if (signup === 'open') return () => undefined
  return (_, path) => {
    if (!beginning.some((one) => path === one || path.startsWith(`${one}/`))) return undefined
    const message = 'This service opens accounts by invitation of its operator only.'
    return refuse(fail('registration_closed', { message }), newId())
  }
}
