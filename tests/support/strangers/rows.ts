/** Bounds on the rows that callers without an account can leave; the catalog names the tables. */
import type { Sql } from 'postgres'

/** Calls that all of them together may make at once and per second, as the migrations define. */
const bounds = {
  alias: [1_000, 50],
  link: [1_000, 100],
  confirm: [600, 20],
  signIn: [600, 4],
  signUp: [300, 1],
  register: [1_000, 1],
  document: [600, 5],
} as const
type Bound = keyof typeof bounds

function most(seconds: number, ...of: Bound[]): number {
  return of.reduce((sum, one) => sum + bounds[one][0] + bounds[one][1] * seconds, 0)
}

/** Returns the rows by which tables may grow in this time, with mails to this many mailboxes. */
export function rowsAllowed(seconds: number, mailboxes: number): Record<string, number> {
  // A mailbox takes 500 mails a day, each with at most 20 files and 100 codes.
  const mails = 500 * mailboxes
  return {
    signups: most(seconds, 'signUp'),
    outbox: most(seconds, 'signUp'),
    oauth_clients: most(seconds, 'register', 'document'),
    // Buckets for a network, a wider one, a name, and that name at its network; and for reads of a mailbox.
    rate_buckets:
      4 * most(seconds, 'alias', 'link', 'confirm', 'signIn', 'signUp', 'register', 'document') +
      10 +
      2 * mailboxes,
    mails,
    activities: mails,
    mail_attachments: 20 * mails,
    mail_codes: 100 * mails,
    account_keys: mailboxes,
    // One for each account: one of the worthless keys was revoked recently and may still freeze.
    frozen_payments: 1,
  }
}

/** Counts the rows of every table. */
export async function countRows(sql: Sql): Promise<Record<string, number>> {
  const tables = await sql<{ name: string }[]>`
    select relname as name from pg_catalog.pg_class
     where relnamespace = 'private'::regnamespace and relkind = 'r'`
  const counts: Record<string, number> = {}
  for (const { name } of tables) {
    const [row] = await sql.unsafe(`select count(*)::integer as rows from private."${name}"`)
    counts[name] = Number(row?.['rows'])
  }
  return counts
}

/** Returns the tables that grew by more than allowed. */
export function grownBeyond(
  before: Readonly<Record<string, number>>,
  after: Readonly<Record<string, number>>,
  allowed: Readonly<Record<string, number>>,
): string[] {
  return Object.entries(after).flatMap(([name, rows]) => {
    const grown = rows - (before[name] ?? 0)
    const atMost = Math.ceil(allowed[name] ?? 0)
    return grown > atMost ? [`${name} grew by ${grown}, which may be ${atMost}`] : []
  })
}
