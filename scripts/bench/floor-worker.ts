/** The least that an operation with one database call can be: Hono and one trivial rpc. */
import { PostgrestClient } from '@supabase/postgrest-js'
import { Hono } from 'hono/tiny'

type Bindings = { SUPABASE_URL: string; SUPABASE_SERVICE_KEY: string }

const app = new Hono<{ Bindings: Bindings }>()
const open = (url: string, key: string) =>
  new PostgrestClient(`${url}/rest/v1`, {
    headers: { apikey: key, authorization: `Bearer ${key}` },
    schema: 'api',
  })
let client: ReturnType<typeof open> | undefined

app.get('/floor', async (c) => {
  client ??= open(c.env.SUPABASE_URL, c.env.SUPABASE_SERVICE_KEY)
  const answer: { data: unknown; error: { message: string } | null } = await client.rpc(
    'bench_ping',
    { credential: 'none' },
  )
  return answer.error ? c.text(answer.error.message, 500) : c.text(JSON.stringify(answer.data))
})
app.get('/bare', (c) => c.json({ ok: true }))

export default app
