/** Secrets that are put into the product to be looked for wherever they must not be found. */
import { randomBytes } from 'node:crypto'
import type { TestDatabase } from './database.ts'

const base32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** A secret like no other text, with characters that every encoding writes in its own way. */
export function canary(): string {
  return `canary "${randomBytes(9).toString('hex')}" <&é`
}

/** A TOTP secret like no other. */
export function seedCanary(): string {
  return Array.from(randomBytes(32), (byte) => base32[byte % 32]).join('')
}

/** Names of the secrets that a text holds, as they are or in a usual encoding. */
export function heldIn(secrets: Readonly<Record<string, string>>, text: string): string[] {
  return Object.entries(secrets)
    .filter(([, secret]) => formsOf(secret).some((form) => text.includes(form)))
    .map(([name]) => name)
}

/** What is in the middle of a canary is the same in each of its forms that does not encode bytes. */
function formsOf(secret: string): string[] {
  const bytes = Buffer.from(secret)
  const core = /[0-9a-f]{18}/.exec(secret)?.[0] ?? secret
  // Whatever stands before it in the text, one of three alignments is there; the ends are cut off.
  const alignments = [0, 1, 2].map((skipped) => {
    const whole = bytes.subarray(skipped, bytes.length - ((bytes.length - skipped) % 3))
    return whole.toString('base64')
  })
  const url = alignments.map((form) => form.replaceAll('+', '-').replaceAll('/', '_'))
  return [core, bytes.toString('hex'), ...alignments, ...url]
}

/** Every row of every table, as text. */
export async function everyRow({ sql }: Pick<TestDatabase, 'sql'>): Promise<string> {
  const tables = await sql<{ schema: string; name: string }[]>`
    select schemaname as schema, tablename as name from pg_tables
     where schemaname in ('private', 'api', 'public')`
  const rows = tables.map(
    ({ schema, name }) => sql`select to_jsonb(t)::text as row from ${sql(schema)}.${sql(name)} t`,
  )
  return JSON.stringify(await Promise.all(rows))
}
