import { createHash } from 'node:crypto'
import { DefaultAgentCardResolver } from '@a2a-js/sdk/client'
import { afterAll, expect, test } from 'vitest'
import { contracts } from '../../functions/contracts.ts'
import { documents } from '../../functions/discovery/documents.ts'
import { discoveryFunction } from '../../functions/discovery/serve.ts'
import notFound from '../../functions/not-found/index.ts'
import { listen } from '../../scripts/local/process/listen.ts'
import { contractDigest } from '../../shared/contract/digest.ts'
import { start } from '../support/world.ts'

const { world } = await start()
const baseUrl = world.config.BASE_URL
const discovery = discoveryFunction({ contracts, documents }, () => world)
const paths = documents.flatMap(({ path, aliases }) => [path, ...aliases])

function ask(path: string, init?: RequestInit): Promise<Response> {
  return Promise.resolve(discovery.fetch(new Request(new URL(path, baseUrl), init)))
}

test.each(paths)(
  '%s is served to pages of any origin, with tag, digest and a type',
  async (path) => {
    const answer = await ask(path, { headers: { origin: 'https://elsewhere.test' } })

    expect(answer.status).toBe(200)
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'access-control-allow-origin': '*',
      'cache-control': 'public, max-age=15',
      'x-contract-digest': contractDigest,
      'x-content-type-options': 'nosniff',
    })
    const extension = path.split('.').at(-1) ?? ''
    const types: Record<string, string> = { md: 'text/markdown', json: 'application/json' }
    expect(answer.headers.get('content-type')).toBe(
      `${types[extension] ?? 'text/plain'}; charset=utf-8`,
    )
    expect(await answer.text()).toContain(contractDigestOf(path))
  },
)

/**
 * Returns the digest that a document must hold. The index holds the digest of the text, which in turn
 * holds the digest of the contract.
 */
function contractDigestOf(path: string): string {
  return path.includes('agent-skills') ? 'sha256:' : contractDigest
}

test.each(paths)('%s is not sent again to who has it, and HEAD tells the same', async (path) => {
  const first = await ask(path)
  const tag = first.headers.get('etag') ?? ''

  const again = await ask(path, { headers: { 'if-none-match': `"other", W/${tag}` } })
  const other = await ask(path, { headers: { 'if-none-match': '"other"' } })
  const head = await ask(path, { method: 'HEAD' })

  expect([again.status, await again.text(), again.headers.get('etag')]).toEqual([304, '', tag])
  expect(other.status).toBe(200)
  expect([head.status, await head.text(), head.headers.get('etag')]).toEqual([200, '', tag])
})

test.each(documents)(
  'the other addresses of $path answer the same bytes and name it',
  async ({ path, aliases }) => {
    const canonical = await ask(path)
    const text = await canonical.text()

    for (const alias of [...aliases, `/discovery${path}`]) {
      const answer = await ask(alias)
      expect(await answer.text(), alias).toBe(text)
      expect(answer.headers.get('etag'), alias).toBe(canonical.headers.get('etag'))
      expect(answer.headers.get('link'), alias).toBe(`<${baseUrl}${path}>; rel="canonical"`)
    }
  },
)

test('the index of skills has the digest of the bytes that are served', async () => {
  const skill = Buffer.from(await (await ask('/skill.md')).arrayBuffer())
  const index: unknown = await (await ask('/.well-known/agent-skills/index.json')).json()

  const digest = `sha256:${createHash('sha256').update(skill).digest('hex')}`
  expect(index).toMatchObject({ skills: [{ url: `${baseUrl}/skill.md`, digest }] })
})

test('another path names the documents, another method those that work', async () => {
  const missing = await ask('/skill.txt')
  const posted = await ask('/skill.md', { method: 'POST' })
  const preflight = await ask('/skill.md', { method: 'OPTIONS' })

  expect([missing.status, posted.status, preflight.status]).toEqual([404, 405, 204])
  const named: unknown = expect.stringContaining('/skill.md')
  expect(await missing.json()).toMatchObject({ error: 'not_found', hint: named })
  expect(posted.headers.get('allow')).toBe('GET, HEAD, OPTIONS')
  expect(preflight.headers.get('access-control-allow-methods')).toBe('GET, HEAD, OPTIONS')
})

test('whoever takes a wrong path is told where the contract is', async () => {
  const answer = notFound.fetch(new Request(`${baseUrl}/v1/pay`))

  const named: unknown = expect.stringContaining('{base_url}/skill.md')
  expect(await answer.json()).toMatchObject({ error: 'not_found', hint: named })
})

test('the official A2A resolver reads the card, which promises no A2A endpoint', async () => {
  const served = await listen((request) => discovery.fetch(request))
  afterAll(served.close)
  const resolver = new DefaultAgentCardResolver()

  const card = await resolver.resolve(served.url)
  const older = await resolver.resolve(served.url, '/.well-known/agent.json')

  expect(older).toEqual(card)
  expect(card).toMatchObject({ name: 'agent-operating-account', version: '1.0.0' })
  expect(card.supportedInterfaces.map(({ url }) => url)).toEqual([`${baseUrl}/mcp`])
  const bindingsOfA2a = ['JSONRPC', 'HTTP+JSON', 'GRPC']
  const binding = card.supportedInterfaces[0]?.protocolBinding
  expect(bindingsOfA2a).not.toContain(binding)
})
