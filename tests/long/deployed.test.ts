/** The whole product as it is deployed: uploaded with wrangler, and run from what the account then holds. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { buildWorkers } from '../../scripts/build/workers.ts'
import { plannedWorkers } from '../../scripts/deploy/plan.ts'
import { uploadWorkers } from '../../scripts/deploy/upload.ts'
import { mailDomain } from '../../scripts/local/bindings.ts'
import type { LocalWorld } from '../../scripts/local/local-world.ts'
import type { Host } from '../../scripts/local/open-functions.ts'
import { openLocalWorld } from '../../scripts/local/world.ts'
import { type Cloudflare, startCloudflare } from '../support/cloudflare/cloudflare.ts'
import { type Running, runAccount } from '../support/cloudflare/run.ts'
import { accessTo } from '../support/cloudflare/upload.ts'
import { messageOf } from '../support/inbound.ts'
import { textWith } from '../support/matching.ts'
import { runDemo } from '../support/run-demo.ts'

const directory = mkdtempSync(join(tmpdir(), 'aoa-deployed-'))
const modules = join(directory, 'workers')
const lines: string[] = []
const log = (line: string) => void lines.push(line)
let cloudflare: Cloudflare
let running: Running
let world: LocalWorld

/** Uploads the workers with the bindings of the world, and runs them on the port of its functions. */
const deployed: Host = async ({ bindings, port }) => {
  const plans = await plannedWorkers(bindings, 'few')
  await buildWorkers(modules, plans)
  cloudflare = await startCloudflare(new URL(bindings['BASE_URL'] ?? '').host)
  await uploadWorkers({
    plans,
    name: 'aoa',
    modules,
    secrets: (name) => bindings[name] ?? '',
    api: accessTo(cloudflare),
    before: join(directory, 'before.json'),
    say: log,
  })
  running = await runAccount(cloudflare.account, port, log)
  return running
}

beforeAll(async () => {
  const { signal } = new AbortController()
  world = await openLocalWorld({ port: 0, directory, host: deployed, signal, say: log })
}, 400_000)
afterAll(async () => {
  await world.stop()
  rmSync(directory, { recursive: true, force: true })
})

async function ask(path: string, init: RequestInit = {}) {
  const answer = await fetch(`${world.url}${path}`, init)
  return { status: answer.status, text: await answer.text() }
}

test('the demo goes through, from a sign-up by mail to paid requests and a login', async () => {
  const shown = await runDemo(directory)

  expect(shown, lines.join('\n')).toMatchObject({
    stdout: textWith('Everything is as it must be.'),
  })
}, 300_000)

test('pages, documents, tools and unknown paths are each answered by their own function', async () => {
  const headers = { authorization: `Bearer ${world.apiKeys.read}` }
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'get_identity' } }
  const posted = {
    method: 'POST',
    headers: {
      ...headers,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify(call),
  }

  expect(await ask('/web/login')).toMatchObject({
    status: 200,
    text: textWith('<html'),
  })
  const identity = await ask('/get-identity', { headers })
  expect(identity).toMatchObject({ status: 200, text: textWith(world.owner.alias) })
  expect(await ask('/mcp', posted)).toMatchObject({
    status: 200,
    text: textWith(world.owner.alias),
  })
  expect((await ask('/openapi.json')).status).toBe(200)
  expect(await ask('/v1/get-identity', { headers })).toMatchObject({
    status: 404,
    text: textWith('not_found'),
  })
})

test('a mail that the platform hands over is kept, and one to nobody is refused', async () => {
  const to = `${world.owner.alias}@${mailDomain}`
  const letter = { from: 'Ann <ann@a.example>', subject: 'By the platform', text: 'Hello' }

  const kept = await running.email(
    'aoa-mail',
    { from: 'ann@a.example', to },
    messageOf({ ...letter, to }),
  )
  const nobody = `nobody@${mailDomain}`
  const refused = await running.email(
    'aoa-mail',
    { from: 'ann@a.example', to: nobody },
    messageOf({ ...letter, to: nobody }),
  )

  expect(kept).toMatchObject({ outcome: 'ok' })
  expect(refused).toMatchObject({ outcome: 'ok', rejectReason: textWith('5.1.1') })
  const headers = { authorization: `Bearer ${world.apiKeys.full}` }
  expect((await ask('/mail-list', { headers })).text).toContain('By the platform')
})
