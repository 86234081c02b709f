/**
 * The minimum for a page: Hono, an empty document, and the database calls that the real page was seen to
 * make. Calls that the page made at once are made at once here too.
 */
import { PostgrestClient } from '@supabase/postgrest-js'
import { Hono } from 'hono/tiny'
import * as z from 'zod'

const call = z.object({ name: z.string(), args: z.record(z.string(), z.unknown()) })
/** Path of a page -> groups of calls. */
const callsOfPages = z.record(z.string(), z.array(z.array(call)))
type Bindings = {
  SUPABASE_URL: string
  SUPABASE_API_KEY: string
  SUPABASE_SERVICE_KEY: string
  /** `callsOfPages` as JSON. */
  CALLS: string
}

const app = new Hono<{ Bindings: Bindings }>()
const open = (env: Bindings) =>
  new PostgrestClient(`${env.SUPABASE_URL}/rest/v1`, {
    headers: { apikey: env.SUPABASE_API_KEY, authorization: `Bearer ${env.SUPABASE_SERVICE_KEY}` },
    schema: 'api',
  })
let client: ReturnType<typeof open> | undefined
let pages: z.output<typeof callsOfPages> | undefined

app.get('/floor/*', async (c) => {
  const database = (client ??= open(c.env))
  pages ??= callsOfPages.parse(JSON.parse(c.env.CALLS))
  for (const group of pages[c.req.path.slice('/floor'.length)] ?? []) {
    const answers = await Promise.all(group.map(({ name, args }) => database.rpc(name, args)))
    const failed = answers.find(({ error }) => error)
    if (failed) return c.text(failed.error?.message ?? '', 500)
  }
  return c.html('<!doctype html><html lang="en"><title>Floor</title><p>Nothing.</p></html>')
})

export default app
