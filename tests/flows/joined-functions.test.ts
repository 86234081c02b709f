import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import type { Miniflare } from 'miniflare'
import { afterAll, beforeAll, expect, test } from 'vitest'
import * as z from 'zod'
import { bundling } from '../../scripts/build/functions.ts'
import { type Binding, fromEntries, reach, worker } from '../../scripts/local/function-worker.ts'
import { openMiniflare } from '../../scripts/local/miniflare.ts'

/** Functions that tell what they are given, in one worker, and a worker that calls it. */
const source = `
import { WorkerEntrypoint } from 'cloudflare:workers'
import { joinFunctions } from './scripts/build/join-functions.ts'

const kept = []
const tells = (name) => ({
  fetch: async (request, bindings, execution) => {
    execution.waitUntil(Promise.resolve(name).then((word) => kept.push(word)))
    const { searchParams } = new URL(request.url)
    const through = searchParams.get('through')
    if (through) return bindings[through].fetch(new Request('http://inside/other?from=' + name))
    return Response.json({ name, bindings: Object.keys(bindings), from: searchParams.get('from'), kept })
  },
})

class Sender extends WorkerEntrypoint {
  send() {
    return { word: 'sent', bindings: Object.keys(this.env) }
  }
  scheduled() {
    kept.push('sender on schedule')
  }
  fetch() {
    return new Response(null, { status: 404 })
  }
}

const taker = {
  ...tells('taker'),
  async email(mail, bindings) {
    kept.push('mail to ' + mail.to + ' with ' + Object.keys(bindings))
  },
  async scheduled(_event, bindings) {
    kept.push('taker with ' + Object.keys(bindings))
  },
}

export default joinFunctions([
  { made: tells('short'), folder: 'short', prefixes: ['/short'], given: ['ONE'], calls: { LONG: 'long' } },
  { made: tells('long'), folder: 'long', prefixes: ['/short-long'], given: ['TWO'], calls: {} },
  { made: Sender, folder: 'sender', prefixes: [], given: ['SECRET'], calls: {} },
  { made: taker, folder: 'taker', prefixes: ['/taker'], given: [], calls: { SENDER: 'sender' } },
])`

const caller = `export default {
  async fetch(request, bindings) {
    if (new URL(request.url).pathname === '/send') return Response.json(await bindings.JOINED.send())
    return bindings.JOINED.fetch(request)
  },
}`

const directory = mkdtempSync(join(tmpdir(), 'aoa-joined-'))
let miniflare: Miniflare
beforeAll(async () => {
  const outfile = join(directory, 'joined.mjs')
  const stdin = { contents: source, resolveDir: bundling.absWorkingDir }
  await build({ ...bundling, stdin, outfile })
  const date = '2026-10-20'
  const { config } = worker('joined', readFileSync(outfile, 'utf8'), date)
  const texts = ['ONE', 'TWO', 'SECRET'].map((name): [string, Binding] => [
    name,
    { type: 'text', value: name },
  ])
  const calling = worker('caller', caller, date).config
  miniflare = openMiniflare({
    cf: false,
    port: 0,
    unsafeTriggerHandlers: true,
    workers: [
      { config: { ...calling, env: { JOINED: reach('joined') } } },
      { config: { ...config, env: fromEntries(texts) } },
    ],
  })
  await miniflare.ready
})
afterAll(async () => {
  await miniflare.dispose()
  rmSync(directory, { recursive: true, force: true })
})

const told = z.object({
  name: z.string(),
  bindings: z.array(z.string()),
  from: z.string().nullable(),
  kept: z.array(z.string()),
})

async function ask(path: string) {
  const answer = await miniflare.dispatchFetch(`http://localhost${path}`)
  return told.parse(await answer.json())
}

async function trigger(path: string, init: { method?: string; body?: string } = {}) {
  const headers = { 'MF-Route-Override': 'joined' }
  const url = `http://localhost/cdn-cgi/local/${path}`
  return (await miniflare.dispatchFetch(url, { ...init, headers })).status
}

test('the function with the longest prefix answers, with the bindings that are its own', async () => {
  expect(await ask('/short/x')).toMatchObject({ name: 'short', bindings: ['ONE', 'LONG'] })
  expect(await ask('/short-long')).toMatchObject({ name: 'long', bindings: ['TWO'] })
  expect(await ask('/short-other')).toMatchObject({ name: 'short' })
  expect((await miniflare.dispatchFetch('http://localhost/elsewhere')).status).toBe(404)
})

test('a binding to a function of the same worker calls it, with its bindings and its work after the answer', async () => {
  expect(await ask('/short?through=LONG')).toMatchObject({
    name: 'long',
    from: 'short',
    bindings: ['TWO'],
  })
  expect((await ask('/short-long')).kept).toEqual(expect.arrayContaining(['short', 'long']))
})

test('other workers call the methods of the class in it, which sees its own bindings', async () => {
  const sent = await miniflare.dispatchFetch('http://localhost/send')

  expect(await sent.json()).toEqual({ word: 'sent', bindings: ['SECRET'] })
})

test('mail and schedules reach the functions that take them', async () => {
  const raw = 'Message-ID: <1@a.example>\r\nFrom: a@a.example\r\nTo: b@b.example\r\n\r\nHi'
  const query = 'email?format=json&from=a@a.example&to=b@b.example'

  expect(await trigger(query, { method: 'POST', body: raw })).toBe(200)
  expect(await trigger('scheduled?cron=*+*+*+*+*')).toBe(200)

  expect((await ask('/short-long')).kept).toEqual(
    expect.arrayContaining([
      'mail to b@b.example with SENDER',
      'sender on schedule',
      'taker with SENDER',
    ]),
  )
})
