/** Secrets that tests put into the product and then look for where they must not appear. */
import type { TestDatabase } from './database.ts'
import { randomBytes } from './seed.ts'

const base32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** Returns a unique secret with characters that each encoding writes differently. */
export function canary(): string {
  return `canary "${randomBytes(9).toString('hex')}" <&é`
}

/** Returns a unique TOTP secret. */
export function seedCanary(): string {
  return Array.from(randomBytes(32), (byte) => base32[byte % 32]).join('')
}

/** Returns the names of the secrets that a text contains, as they are or in a usual encoding. */
export function heldIn(secrets: Readonly<Record<string, string>>, text: string): string[] {
  return Object.entries(secrets)
    .filter(([, secret]) => formsOf(secret).some((form) => text.includes(form)))
    .map(([name]) => name)
}

/**
 * Returns the forms of a secret to look for. The middle of a canary is the same in each form that does not
 * encode bytes.
 */
function formsOf(secret: string): string[] {
  const bytes = Buffer.from(secret)
  const core = /[0-9a-f]{18}/.exec(secret)?.[0] ?? secret
  // One of three base64 alignments matches, whatever precedes the secret in the text; the ends are cut off.
  const alignments = [0, 1, 2].map((skipped) => {
    const whole = bytes.subarray(skipped, bytes.length - ((bytes.length - skipped) % 3))
    return whole.toString('base64')
  })
  const url = alignments.map((form) => form.replaceAll('+', '-').replaceAll('/', '_'))
  return [core, bytes.toString('hex'), ...alignments, ...url]
}

/** Returns every row of every table as text. */
export async function everyRow({ sql }: Pick<TestDatabase, 'sql'>): Promise<string> {
  const tables = await sql<{ schema: string; name: string }[]>`
    select schemaname as schema, tablename as name from pg_tables
     where schemaname in ('private', 'api', 'public')`
  const rows = tables.map(
    ({ schema, name }) => sql`select to_jsonb(t)::text as row from ${sql(schema)}.${sql(name)} t`,
  )
  return JSON.stringify(await Promise.all(rows))
}
