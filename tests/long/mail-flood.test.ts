/** A stranger who sends large mails as fast as they are accepted delays nobody else. */
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { stop as stopEsbuild } from 'esbuild'
import { afterAll, beforeAll, expect, test } from 'vitest'
import * as z from 'zod'
import { buildFunctions } from '../../scripts/build/functions.ts'
import { readFunctions } from '../../scripts/local/functions.ts'
import { choosePorts } from '../../scripts/local/process/ports.ts'
import { startWorkers, type Workers } from '../../scripts/local/workers.ts'
import { inboundMailSecret, mailDomain, start } from '../support/world.ts'

const modules = mkdtempSync(join(tmpdir(), 'aoa-flood-'))
const product = await start()
let workers: Workers

beforeAll(async () => {
  await buildFunctions(modules)
  const folders = ['inbound-mail', 'mail-reader', 'vault', 'mailer', 'get-identity']
  const functions = (await readFunctions())
    .filter(({ folder }) => folders.includes(folder))
    .map((one) => ({ ...one, crons: [] }))
  const { functions: port } = await choosePorts(0)
  const { bindings } = product
  const given = { ...bindings.product, ...bindings.vault, MAIL_URL: 'smtp://127.0.0.1:1' }
  workers = await startWorkers({ functions, port, modules, bindings: given, log: () => {} })
}, 120_000)

afterAll(async () => {
  await workers.stop()
  await stopEsbuild()
  rmSync(modules, { recursive: true, force: true })
})

/** Calls repeatedly for this many seconds. Returns the milliseconds of each call. */
async function callFor(seconds: number, key: string): Promise<number[]> {
  const taken: number[] = []
  const end = performance.now() + seconds * 1000
  while (performance.now() < end) {
    const began = performance.now()
    const headers = { authorization: `Bearer ${key}` }
    const answer = await fetch(`${workers.url}/get-identity`, { headers })
    expect(answer.status).toBe(200)
    await answer.arrayBuffer()
    taken.push(performance.now() - began)
  }
  return taken.toSorted((one, other) => one - other)
}

const middle = (sorted: readonly number[]) => sorted[Math.floor(sorted.length / 2)] ?? Infinity

test('while a stranger sends mails of 1 MB without end, others wait at most twice as long', async () => {
  const rate = { perSecond: 100_000, burst: 100_000 }
  const other = await product.agent('read', { rate })
  const boxes = await Promise.all(Array.from({ length: 5 }, () => product.agent('read')))
  const recipients = boxes.map(({ alias }) => `${alias}@${mailDomain}`)
  const url = `${workers.url}/inbound-mail`
  const inbound = { domain: mailDomain, url, secret: inboundMailSecret }
  await callFor(3, other.key)

  const quiet = await callFor(10, other.key)
  const stranger = new Worker(new URL('../support/mail-flood.ts', import.meta.url), {
    workerData: { inbound, recipients, senders: 4 },
  })
  await once(stranger, 'message')
  const flooded = await callFor(20, other.key)
  stranger.postMessage('over')
  const [{ sent }] = z.tuple([z.object({ sent: z.int() })]).parse(await once(stranger, 'message'))

  const [{ mails } = { mails: 0 }] = await product.db.sql<{ mails: number }[]>`
    select count(*)::integer as mails from private.mails`
  const ratio = middle(flooded) / middle(quiet)
  const worst = (sorted: readonly number[]) => sorted[Math.floor(sorted.length * 0.99)]?.toFixed(0)
  console.log(
    `${sent} mails, ${mails} kept; median ${middle(quiet).toFixed(1)} and ${middle(flooded).toFixed(1)} ms,` +
      ` 99 % ${worst(quiet)} and ${worst(flooded)} ms`,
  )
  expect(mails).toBeGreaterThan(5)
  expect(ratio).toBeLessThanOrEqual(2)
})
