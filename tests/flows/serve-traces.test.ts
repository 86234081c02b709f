/** A service sends a span for each request to a collector of OTLP, and nothing in it that was said. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import * as z from 'zod'
import notFound from '../../functions/not-found/index.ts'
import { readFunctions } from '../../scripts/local/functions.ts'
import { listen } from '../../scripts/local/process/listen.ts'
import { choosePorts } from '../../scripts/local/process/ports.ts'
import { openDoor } from '../../scripts/serve/door/open-door.ts'
import { makeSecrets } from '../../scripts/serve/settings.ts'
import { start } from '../support/world.ts'

const value = z.object({ stringValue: z.string().optional(), intValue: z.int().optional() })
const attribute = z.object({ key: z.string(), value })
const spanSchema = z.looseObject({
  traceId: z.string(),
  parentSpanId: z.string().optional(),
  name: z.string(),
  startTimeUnixNano: z.string().transform(BigInt),
  endTimeUnixNano: z.string().transform(BigInt),
  attributes: z.array(attribute),
})
const exportSchema = z.object({
  resourceSpans: z.array(
    z.object({
      resource: z.object({ attributes: z.array(attribute) }),
      scopeSpans: z.array(z.object({ spans: z.array(spanSchema) })),
    }),
  ),
})

const [traceId, parentSpanId] = ['4bf92f3577b34da6a3ce929d0e0e4736', '00f067aa0ba902b7']
const door = { hostname: '127.0.0.1', signup: 'open', tls: undefined, logsRequests: false } as const

test('each request becomes a span of its function, and goes on with the trace of its client', async () => {
  const bodies: string[] = []
  const collector = await listen(async (request) => {
    bodies.push(`${new URL(request.url).pathname} ${await request.text()}`)
    return Response.json({})
  })
  const directory = mkdtempSync(join(tmpdir(), 'aoa-traces-'))
  makeSecrets(directory)
  process.env['OTEL_EXPORTER_OTLP_ENDPOINT'] = collector.url
  onTestFinished(async () => {
    delete process.env['OTEL_EXPORTER_OTLP_ENDPOINT']
    rmSync(directory, { recursive: true })
    await collector.close()
  })
  const { functions: port } = await choosePorts(0)
  const { db: database } = (await start()).world
  const functions = (await readFunctions()).filter(({ folder }) => folder === 'not-found')
  const fetching = { fetch: async (request: Request) => notFound.fetch(request) }
  const loaded = { ...fetching, call: () => Promise.reject(new Error('no method')) }
  const behind = { functions, loaded: [{ folder: 'not-found', loaded }], database }
  const host = await openDoor({ ...door, port, directory, isBehindProxy: false }, behind, () => {})

  const headers = {
    authorization: 'Bearer a-secret-of-the-test',
    traceparent: `00-${traceId}-${parentSpanId}-01`,
  }
  await fetch(`http://127.0.0.1:${port}/nowhere?with=private-words`, { headers })
  await fetch(`http://127.0.0.1:${port}/health`)
  await host.stop()

  expect(bodies).toHaveLength(1)
  const [path, ...text] = (bodies[0] ?? '').split(' ')
  const [sent] = exportSchema.parse(JSON.parse(text.join(' '))).resourceSpans
  const [span, ...others] = sent?.scopeSpans.flatMap(({ spans }) => spans) ?? []
  expect([path, others]).toEqual(['/v1/traces', []])
  expect(span).toMatchObject({ traceId, parentSpanId, name: 'GET /not-found' })
  expect(span?.attributes).toEqual([
    { key: 'http.request.method', value: { stringValue: 'GET' } },
    { key: 'http.route', value: { stringValue: '/not-found' } },
    { key: 'http.response.status_code', value: { intValue: 404 } },
  ])
  expect(span?.endTimeUnixNano).toBeGreaterThan(span?.startTimeUnixNano ?? 0n)
  expect(sent?.resource.attributes).toContainEqual({
    key: 'service.name',
    value: { stringValue: 'agent-operating-account' },
  })
  expect(bodies.join()).not.toMatch(/a-secret-of-the-test|private-words|nowhere/)
})
