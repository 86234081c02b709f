/**
 * The whole product with its operations at Supabase, under real Deno, and everything else in workers: the demo goes
 * through, from a sign-up by mail to paid requests and a login.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { type IncomingMessage, request, type ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getRequestListener } from '@hono/node-server'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { contracts } from '../../functions/contracts.ts'
import { buildFunctions } from '../../scripts/build/functions.ts'
import { readFunctions } from '../../scripts/local/functions.ts'
import type { LocalWorld } from '../../scripts/local/local-world.ts'
import type { Host } from '../../scripts/local/open-functions.ts'
import { listenRaw } from '../../scripts/local/process/listen.ts'
import { choosePorts } from '../../scripts/local/process/ports.ts'
import { startWorkers } from '../../scripts/local/workers.ts'
import { openLocalWorld } from '../../scripts/local/world.ts'
import { publicKeys } from '../support/edge/door.ts'
import { serveWritten } from '../support/edge/written.ts'
import { textWith } from '../support/matching.ts'
import { runDemo } from '../support/run-demo.ts'

const directory = mkdtempSync(join(tmpdir(), 'aoa-at-supabase-'))
const lines: string[] = []
const log = (line: string) => void lines.push(line)
let world: LocalWorld

/** Serves operations from Deno and everything else from workers, at one address. */
const host: Host = async ({ bindings, port }) => {
  const modules = join(directory, 'modules')
  const given = { ...bindings, REMOTE_CALLS_PUBLIC_KEYS: publicKeys }
  const operations = new Set(contracts.map(({ folder }) => folder))
  await buildFunctions(modules)
  const functions = await readFunctions(given)
  const { functions: inner } = await choosePorts(0)
  const workers = await startWorkers({ functions, port: inner, modules, bindings: given, log })
  const front = await serveWritten(directory, bindings, log)
  const answer = getRequestListener((request) => {
    const { pathname, search } = new URL(request.url)
    return front.answer(new Request(`http://front/functions/v1${pathname}${search}`, request))
  })
  const served = await listenRaw((request, response) => {
    const { pathname } = new URL(request.url ?? '', 'http://any')
    if (operations.has(pathname.slice(1))) void answer(request, response)
    else passOn(inner, request, response)
  }, port)
  return {
    url: served.url,
    stop: async () => {
      await Promise.all([served.close(), front.stop()])
      await workers.stop()
    },
  }
}

/** Hands a request on as it is, for the host that it was sent to. */
function passOn(port: number, asked: IncomingMessage, response: ServerResponse): void {
  const { url: path, method, headers } = asked
  const sent = request({ host: '127.0.0.1', port, path, method, headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 500, answer.rawHeaders)
    answer.pipe(response)
  })
  sent.on('error', () => response.destroy())
  asked.pipe(sent)
}

beforeAll(async () => {
  const { signal } = new AbortController()
  world = await openLocalWorld({ port: 0, directory, host, signal, say: log })
}, 400_000)
afterAll(async () => {
  await world.stop()
  rmSync(directory, { recursive: true, force: true })
})

test('the demo goes through', async () => {
  const shown = await runDemo(directory)

  expect(shown, lines.join('\n')).toMatchObject({
    stdout: textWith('Everything is as it must be.'),
  })
}, 300_000)
