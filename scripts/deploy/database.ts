/** The database of a deployment: its migrations, the schema that its API exposes, and the relayers. */
import { openSecret } from '../../shared/kms.ts'
import { readRoots } from '../../shared/sealing/roots.ts'
import { migrate, pendingVersions } from '../migrate.ts'
import { reportFunding } from '../operator/fund.ts'
import type { ReportRow } from '../operator/reports.ts'
import type { Outside } from '../program/outside.ts'
import { asOwner, readyRelayers } from '../serve/owner.ts'
import { exposedSchemas, exposeSchemas, type SupabaseProject } from './supabase.ts'

const schema = 'api'

/** Returns what a run would change, as it would be said after "would". */
export async function plannedDatabase(
  databaseUrl: string,
  access: SupabaseProject,
  chains: readonly string[],
): Promise<string[]> {
  const [pending, exposed, relayed] = await Promise.all([
    pendingVersions(databaseUrl),
    exposedSchemas(access),
    relayedChains(databaseUrl),
  ])
  return [
    ...pending.map((version) => `apply the migration ${version}`),
    ...(exposed.includes(schema) ? [] : [`expose the schema ${schema} of ${access.project}`]),
    ...chains
      .filter((chain) => !relayed.includes(chain))
      .map((chain) => `open a relayer on ${chain}`),
  ]
}

function relayedChains(databaseUrl: string): Promise<string[]> {
  return asOwner(databaseUrl, async (sql) => {
    const [made] = await sql`select to_regclass('private.gas_payers') is not null as is_there`
    if (!made?.['is_there']) return []
    const rows = await sql<{ chain: string }[]>`
      select distinct 'eip155:' || chain as chain from private.gas_payers where kind = 'relayer'`
    return rows.map(({ chain }) => chain)
  })
}

/** Brings the database up to date and exposes the schema beside those that are exposed already. */
export async function readyDatabase(
  databaseUrl: string,
  access: SupabaseProject,
  say: (line: string) => void,
): Promise<void> {
  const applied = await migrate(databaseUrl)
  say(applied.length > 0 ? `migrations applied: ${applied.join(', ')}` : 'no migration to apply')
  const exposed = await exposedSchemas(access)
  if (exposed.includes(schema)) return
  await exposeSchemas(access, [...exposed, schema])
  // A run that was killed before here has applied the migrations, so nothing else tells PostgREST.
  await asOwner(databaseUrl, (sql) => sql`notify pgrst, 'reload schema'`)
  say(`schema ${schema} exposed, beside ${exposed.join(', ')}`)
}

/** True if the database holds keys of wallets or relayers, or an account, all of which depend on the secrets. */
export function holdsKeys(databaseUrl: string): Promise<boolean> {
  return asOwner(databaseUrl, async (sql) => {
    const [made] = await sql`select to_regclass('private.custody_keys') is not null as is_there`
    if (!made?.['is_there']) return false
    const held =
      await sql`select from private.custody_keys union all select from private.accounts limit 1`
    return held.length > 0
  })
}

/** Longest time for which a watch of the version before goes on after an upload (shared/health/watch.ts). */
const oldWatchSeconds = 60

/** Returns the time, by the clock of the database, from which on looks are made by the workers of now alone. */
export function startOfNews(databaseUrl: string): Promise<string> {
  return asOwner(databaseUrl, async (sql) => {
    const [row] = await sql<{ at: string }[]>`
      select (private.clock() + make_interval(secs => ${oldWatchSeconds}))::text as at`
    return row?.at ?? ''
  })
}

/** Returns what is wrong with custody and the vault by looks after this time; undefined if both are well. */
export function judgeLooks(databaseUrl: string, since: string): Promise<string | undefined> {
  return asOwner(databaseUrl, async (sql) => {
    const rows = await sql<{ part: string; reason: string | null }[]>`
      select p.part, case when h.looked_at > ${since}::timestamptz then h.reason
          else 'not looked at since the upload' end as reason
        from unnest(array['custody', 'vault']) p (part) left join private.health h using (part)`
    const wrong = rows.filter(({ reason }) => reason !== null)
    return wrong.length === 0
      ? undefined
      : wrong.map(({ part, reason }) => `${part}: ${reason}`).join(', ')
  })
}

/** Transfers that a relayer should have gas for. */
const transfers = '1000'

/** Makes sure that each chain has a relayer, and returns those that lack gas with a payment link each. */
export function openRelayers(
  databaseUrl: string,
  chains: readonly string[],
  custodyKeys: string,
  outside: Outside,
): Promise<ReportRow[]> {
  return asOwner(databaseUrl, async (sql) => {
    const rootsOf = async () =>
      readRoots(await openSecret(outside, 'CUSTODY_ROOT_KEYS', custodyKeys), 'custody')
    await readyRelayers(sql, rootsOf, chains)
    return reportFunding(sql, transfers)
  })
}
