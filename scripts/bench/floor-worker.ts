/** The minimum for an operation with one database call: Hono and one trivial RPC. */
import { PostgrestClient } from '@supabase/postgrest-js'
import { Hono } from 'hono/tiny'

type Bindings = { SUPABASE_URL: string; SUPABASE_API_KEY: string; SUPABASE_SERVICE_KEY: string }

const app = new Hono<{ Bindings: Bindings }>()
const open = (env: Bindings) =>
  new PostgrestClient(`${env.SUPABASE_URL}/rest/v1`, {
    headers: { apikey: env.SUPABASE_API_KEY, authorization: `Bearer ${env.SUPABASE_SERVICE_KEY}` },
    schema: 'api',
  })
let client: ReturnType<typeof open> | undefined

app.get('/floor', async (c) => {
  client ??= open(c.env)
  const answer: { data: unknown; error: { message: string } | null } = await client.rpc(
    'bench_ping',
    { credential: 'none' },
  )
  return answer.error ? c.text(answer.error.message, 500) : c.text(JSON.stringify(answer.data))
})
app.get('/bare', (c) => c.json({ ok: true }))

export default app
