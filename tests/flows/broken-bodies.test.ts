/**
 * Requests with a truncated or badly framed body get 400 or no answer, and fill no log. The tests use
 * real sockets, since such a request cannot be made within one process.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stop as stopEsbuild } from 'esbuild'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { buildFunctions } from '../../scripts/build/functions.ts'
import { readFunctions } from '../../scripts/local/functions.ts'
import { choosePorts } from '../../scripts/local/process/ports.ts'
import { startWorkers, type Workers } from '../../scripts/local/workers.ts'
import { signedIn } from '../support/browserless.ts'
import { type Agent, start } from '../support/world.ts'

const modules = mkdtempSync(join(tmpdir(), 'aoa-broken-'))
const product = await start()
const lines: string[] = []
let workers: Workers
let port: number
let agent: Agent

beforeAll(async () => {
  const folders = ['web', 'oauth', 'mcp', 'inbound-mail', 'vault', 'create-account', 'vault-store']
  const others = ['request-signup-verification', 'get-identity', 'mailer', 'custody']
  await buildFunctions(modules, [...folders, ...others])
  port = (await choosePorts(0)).functions
  const functions = (await readFunctions())
    .filter(({ folder }) => [...folders, ...others].includes(folder))
    .map((one) => ({
      ...one,
      crons: [],
      services: one.services.filter(({ service }) =>
        [...folders, ...others].some((folder) => service.endsWith(folder)),
      ),
    }))
  const { bindings } = product
  const given = {
    ...bindings.product,
    ...bindings.custody,
    ...bindings.vault,
    MAIL_URL: 'smtp://127.0.0.1:1',
    WEB_URL: `http://127.0.0.1:${port}/web`,
  }
  const log = (line: string) => lines.push(line)
  workers = await startWorkers({ functions, port, modules, bindings: given, log })
  agent = await product.agent('pay')
}, 120_000)

afterAll(async () => {
  await workers.stop()
  await stopEsbuild()
  rmSync(modules, { recursive: true, force: true })
})

beforeEach(() => {
  lines.length = 0
})

/** Sends these bytes and closes. Returns the status of the response, or 0 if there is none. */
function send(text: string): Promise<number> {
  return new Promise((resolve) => {
    let heard = ''
    const socket = connect(port, '127.0.0.1', () => socket.end(text, 'latin1'))
    socket.on('data', (data) => {
      heard += data.toString('latin1')
    })
    socket.on('error', () => {})
    socket.on('close', () => resolve(Number(/^HTTP\/1\.1 (\d{3})/.exec(heard)?.[1] ?? 0)))
  })
}

const json = 'content-type: application/json'
const form = 'content-type: application/x-www-form-urlencoded'
const paths: [path: string, type: string][] = [
  ['/request-signup-verification', json],
  ['/create-account', json],
  ['/vault-store', json],
  ['/mcp', json],
  ['/oauth/token', form],
  ['/oauth/register', json],
  ['/inbound-mail', json],
  ['/web/login', form],
  ['/web/join', form],
]
const bodies: Readonly<Record<string, string>> = {
  'is shorter than announced': 'content-length: 100\r\n\r\n{"email":',
  'has a chunk without an end': 'transfer-encoding: chunked\r\n\r\n40\r\n{"email":',
  'has a chunk of no length': 'transfer-encoding: chunked\r\n\r\nzz\r\n{"email":',
  'has a chunk that is longer than told':
    'transfer-encoding: chunked\r\n\r\n2\r\n{"email":1}\r\n0\r\n\r\n',
  'has no last chunk': 'transfer-encoding: chunked\r\n\r\n2\r\n{}\r\n',
  'has two lengths': 'content-length: 2\r\ncontent-length: 9\r\n\r\n{}',
  'has a length that is none': 'content-length: two\r\n\r\n{}',
  'has a length and chunks':
    'content-length: 2\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n',
}

test.each(Object.entries(bodies))('a body that %s is a mistake of who sent it', async (_, body) => {
  const answers: Record<string, number> = {}
  for (const [path, type] of paths) {
    const head = [
      `POST ${path} HTTP/1.1`,
      `host: 127.0.0.1:${port}`,
      'connection: close',
      `origin: http://127.0.0.1:${port}`,
      `authorization: Bearer ${agent.key}`,
      type,
    ]
    answers[path] = await send(`${head.join('\r\n')}\r\n${body}`)
  }

  expect(Object.entries(answers).filter(([, status]) => status >= 500)).toEqual([])
  expect(lines).toEqual([])
})

test('a GET with a body in chunks is answered', async () => {
  const chunks = 'transfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n'
  const head = `host: 127.0.0.1:${port}\r\nconnection: close\r\nauthorization: Bearer ${agent.key}`

  expect(await send(`GET /get-identity HTTP/1.1\r\n${head}\r\n${chunks}`)).toBe(200)
  expect(lines).toEqual([])
})

test('a session is found on the second of two Cookie lines', async () => {
  const config = { ...product.world.config, WEB_URL: `http://127.0.0.1:${port}/web` }
  const world = { ...product.world, config }
  const { cookies } = await signedIn({ world, db: product.db }, agent)
  const head = [
    'GET /web/limits HTTP/1.1',
    `host: 127.0.0.1:${port}`,
    'connection: close',
    'cookie: theme=dark',
    `cookie: __Host-aoa_session=${cookies.get('__Host-aoa_session')}`,
  ]

  expect(await send(`${head.join('\r\n')}\r\n\r\n`)).toBe(200)
})

/** NUL, surrogate halves in UTF-8 and invalid bytes, percent-encoded and raw. */
const odd = ['%00', '%ED%A0%80', '%ED%BF%BF', '%FF', '%', '\xed\xa0\x80', '\xff', '\xc0\x80']

test.each(odd)(
  '%j in a query, a cookie and a form is a mistake of who sent it, at most',
  async (text) => {
    const token = 'a'.repeat(64)
    const fields = [
      'form',
      'email',
      'password',
      'next',
      'grant_type',
      'code',
      'client_id',
      'redirect_uri',
    ]
    const content = `form=${token}&${fields.map((name) => `${name}=a${text}`).join('&')}&${text}=1`
    const answers: Record<string, number> = {}
    for (const [path, type] of paths) {
      const head = [
        `POST ${path}?next=${text}&${text} HTTP/1.1`,
        `host: 127.0.0.1:${port}`,
        'connection: close',
        `origin: http://127.0.0.1:${port}`,
        `cookie: a=${text}; __Host-aoa_form=${token}; __Host-aoa_session=${text}`,
        type,
        `content-length: ${content.length}`,
      ]
      answers[path] = await send(`${head.join('\r\n')}\r\n\r\n${content}`)
      const got = head.slice(1, 5).join('\r\n')
      answers[`GET ${path}`] = await send(
        `GET ${path}?next=${text}&${text} HTTP/1.1\r\n${got}\r\n\r\n`,
      )
    }

    expect(Object.entries(answers).filter(([, status]) => status >= 500)).toEqual([])
    expect(lines).toEqual([])
  },
)
