/**
 * A deployment against fakes of both platforms and a real PostgreSQL. Workers are of one line each; the service
 * that they are is answered by a page of its own.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { plannedWorkers } from '../../../scripts/deploy/plan.ts'
import type { Workers } from '../../../scripts/deploy/ready-workers.ts'
import type { Deployment } from '../../../scripts/deploy/run.ts'
import { readDeploySettings } from '../../../scripts/deploy/settings.ts'
import { uploadWorkers } from '../../../scripts/deploy/upload.ts'
import { asOwner } from '../../../scripts/serve/owner.ts'
import { startCloudflare } from '../cloudflare/cloudflare.ts'
import { writeModule } from '../cloudflare/upload.ts'
import { createDatabase } from '../database.ts'
import { atEnd } from '../ending.ts'
import { randomBytes } from '../seed.ts'
import { deployQuickly } from './deploy-quickly.ts'
import { openFakeCloudflareZone } from './fake-cloudflare-zone.ts'
import { openFakeSupabase } from './fake-supabase.ts'

export const baseUrl = 'https://api.example.com'
export const mailDomain = 'agents.example.com'

/** Returns deploy.toml of the fakes, with these lines in place of those of the same name. */
export function settingsText(accountId: string, differs: Record<string, string> = {}): string {
  const lines = {
    base_url: `"${baseUrl}"`,
    zone: '"example.com"',
    account_id: `"${accountId}"`,
    mail_domain: `"${mailDomain}"`,
    mail_url: '"https://mail.example/emails"',
    supabase_project: '"abcdefghijklmnopqrst"',
    'rpc.base': '["https://one.example/key-of-one", "https://two.example/key-of-two"]',
    ...differs,
  }
  return Object.entries(lines)
    .map(([name, value]) => `${name} = ${value}\n`)
    .join('')
}

/** The code of all workers; another word is another version. */
export type FakeCode = { word: string }

/** Returns workers of small modules, which go to the account without a program for each. */
function openWorkers(folder: string, code: FakeCode): Workers {
  return {
    planned: plannedWorkers,
    async upload(order) {
      const modules = join(folder, 'modules')
      mkdirSync(modules, { recursive: true })
      for (const { module } of order.plans) writeModule(modules, module, code.word)
      return uploadWorkers({ ...order, modules, deploy: deployQuickly })
    },
  }
}

const gapIds = ['GAP_SIGN_UP_V1', 'GAP_VAULT_V1']

/** The deployed service; what it answers is a test's to change. */
export type FakeService = {
  down: Set<string>
  reasons: string[]
  asked: number
  /** True while its housekeeping looks at custody and the vault, whenever a run pauses. */
  isWatching: boolean
}

/** Stores a look of the minute after this one. */
async function lookAround({ isWatching, reasons }: FakeService, databaseUrl: string) {
  if (!isWatching) return
  const found = ['custody', 'vault'].map((part) => ({
    part,
    reason: reasons.includes(`${part}_unreachable`) ? 'unreachable' : null,
  }))
  await asOwner(databaseUrl, async (sql) => {
    await sql`insert into private.health as h (part, reason, looked_at)
      select part, reason, private.clock() + interval '75 seconds'
        from jsonb_to_recordset(${sql.json(found)}) as f (part text, reason text)
      on conflict (part) do update set reason = excluded.reason, looked_at = excluded.looked_at`
  })
}

function answerOf(service: FakeService, path: string): Response {
  service.asked += 1
  if (service.down.has(path)) return new Response(null, { status: 530 })
  if (path === '/web/join') {
    return new Response('<!doctype html>', { headers: { 'content-type': 'text/html' } })
  }
  if (path === '/.well-known/oauth-authorization-server/oauth') {
    return Response.json({ issuer: `${baseUrl}/oauth` })
  }
  if (path === '/.well-known/agent-card.json') {
    const gaps = gapIds.map((gap_id) => ({ gap_id, status: 'live', reasons: service.reasons }))
    return Response.json({ capabilities: { extensions: [{ params: { gaps } }] } })
  }
  if (['/get-identity', '/mcp'].includes(path)) return new Response(null, { status: 401 })
  return new Response(null, { status: ['/skill.md', '/openapi.json'].includes(path) ? 200 : 404 })
}

/** Opens an empty database, both platforms, and a deployment that has not run. */
export async function openDeployment(differs: Record<string, string> = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'aoa-deploy-'))
  atEnd(async () => rmSync(folder, { recursive: true }))
  const database = await createDatabase('template1')
  atEnd(() => database.drop())
  let clock = Date.now()
  const now = () => new Date(clock)
  const supabase = openFakeSupabase(now, database.url)
  const mail = differs['mail_domain']?.replaceAll('"', '') ?? mailDomain
  const account = await startCloudflare('example.com')
  const cloudflare = openFakeCloudflareZone(account, 'api.example.com', mail)
  const code: FakeCode = { word: 'first' }
  const service: FakeService = { down: new Set(), reasons: [], asked: 0, isWatching: true }
  const network = async (input: string | URL | Request, init?: RequestInit) => {
    const request = new Request(input, init)
    const { origin, pathname } = new URL(request.url)
    if (origin === supabase.url) return supabase.answer(request)
    if (origin === baseUrl) return answerOf(service, pathname)
    if (!request.url.startsWith(account.url)) throw new Error(`nobody answers ${request.url}`)
    return (await cloudflare.answer(request)) ?? fetch(input, init)
  }
  const file = join(folder, 'deploy.toml')
  writeFileSync(file, settingsText(cloudflare.accountId, differs))
  const settings = readDeploySettings(file)
  const lines: string[] = []
  const { signal } = new AbortController()
  const given: Deployment = {
    settings,
    credentials: {
      cloudflareToken: cloudflare.token,
      supabaseToken: supabase.token,
      databaseUrl: database.url,
      mailToken: `re_${randomBytes(16).toString('hex')}`,
      turnstileSecret: 'none',
    },
    cloudflare: { url: cloudflare.url, token: cloudflare.token, fetch: network, signal },
    supabase: {
      url: supabase.url,
      token: supabase.token,
      project: supabase.project,
      fetch: network,
      signal,
    },
    workers: openWorkers(folder, code),
    passphrase: 'correct horse battery',
    confirmEscrow: async () => true,
    fetch: network,
    now,
    pause: async (milliseconds) => {
      clock += milliseconds
      // Only the smoke test pauses for so long.
      if (milliseconds === 5_000) await lookAround(service, database.url)
    },
    say: (line) => lines.push(line),
    signal,
  }
  return { given, supabase, cloudflare, account, code, service, database, lines, file, folder }
}
