/** The questions that a deployment asks its service, put to the product itself. */
import { beforeEach, expect, test } from 'vitest'
import { contracts } from '../../functions/contracts.ts'
import { documents } from '../../functions/discovery/documents.ts'
import { discoveryFunction } from '../../functions/discovery/serve.ts'
import notFound from '../../functions/not-found/index.ts'
import { webFunction } from '../../functions/web/app.tsx'
import { pages } from '../../functions/web/index.ts'
import { judgeLooks, startOfNews } from '../../scripts/deploy/database.ts'
import { smokeTest } from '../../scripts/deploy/smoke.ts'
import type { Health } from '../../shared/contract/gaps.ts'
import { functionsIn } from '../support/functions.ts'
import { toolsIn } from '../support/mcp.ts'
import { start } from '../support/world.ts'

const opened = await start()
const { world, db } = opened
world.config.WEB_URL = `${world.config.BASE_URL}/web`
const given = () => world
const functions = functionsIn(world)
const { app } = webFunction(pages, given)
const discovery = discoveryFunction({ contracts, documents }, given)
const mcp = toolsIn(world)
const well: Health = { watched: true, chains: [], failing: [] }

/** Answers as the routes of a deployment do. */
async function answer(input: string | URL | Request, init?: RequestInit): Promise<Response> {
  const request = new Request(input, init)
  const { pathname } = new URL(request.url)
  if (pathname.startsWith('/web')) return app.fetch(request)
  if (pathname.startsWith('/mcp')) return mcp(request)
  if (pathname.startsWith('/.well-known/oauth-')) return functionNamed('oauth').fetch(request)
  const isDocument = /^\/(skill|openapi\.json|\.well-known\/agent)/.test(pathname)
  return isDocument ? discovery.fetch(request) : functionNamed(pathname.slice(1)).fetch(request)
}

const functionNamed = (folder: string) => functions.get(folder) ?? notFound

let pauses: number
beforeEach(() => {
  pauses = 0
  see(well)
})

function see(health: Health): void {
  world.healthSeen.kept = { health, untilMilliseconds: Number.POSITIVE_INFINITY }
}

const ask = (differs: Partial<Parameters<typeof smokeTest>[0]> = {}) =>
  smokeTest({
    baseUrl: world.config.BASE_URL,
    fetch: answer,
    looks: async () => undefined,
    pause: async () => {
      pauses += 1
    },
    signal: new AbortController().signal,
    ...differs,
  })

test('the product answers every question well at once', async () => {
  expect(await ask()).toEqual([])
  expect(pauses).toBe(0)
})

test.each([
  ['custody', { part: 'custody', reason: 'unreachable' }, 'custody is not live'],
  ['the vault', { part: 'vault', reason: 'unreachable' }, 'vault is not live'],
])('a deployment whose %s does not answer is red', async (_, failing, sentence) => {
  see({ ...well, failing: [failing] })

  expect(await ask()).toEqual([expect.stringContaining(sentence)])
})

test('a deployment whose watch has never run is red, and one whose watch begins to run is not', async () => {
  see({ ...well, watched: false })
  const pause = async () => {
    pauses += 1
    if (pauses === 12) see(well)
  }

  expect(await ask()).toEqual([expect.stringContaining('health_not_watched')])
  pauses = 0
  expect(await ask({ pause })).toEqual([])
})

test('an answer that was right while the watch was awaited has to be right at the end too', async () => {
  const isOver = () => pauses >= 3
  const looks = async () => (isOver() ? undefined : 'not looked at')
  const failing = async (input: string | URL | Request, init?: RequestInit) =>
    isOver() && new Request(input).url.endsWith('/web/join')
      ? new Response(null, { status: 530 })
      : answer(input, init)

  expect(await ask({ looks, fetch: failing })).toEqual([expect.stringContaining('answered 530')])
})

test('a capability that depends on a provider of mail does not make a deployment red', async () => {
  see({ ...well, failing: [{ part: 'mail_out', reason: 'unreachable' }] })

  expect(await ask()).toEqual([])
})

test('a service at another address than it believes is red', async () => {
  const elsewhere = (input: string | URL | Request, init?: RequestInit) => {
    const { pathname } = new URL(new Request(input).url)
    return answer(`${world.config.BASE_URL}${pathname}`, init)
  }

  const failures = await ask({ baseUrl: 'https://other.example', fetch: elsewhere })

  expect(failures).toEqual([expect.stringContaining('with the issuer http://aoa.example/oauth')])
})

test('a host that cannot be reached is red with the reason', async () => {
  const down = async () => {
    throw new Error('ENOTFOUND')
  }

  const failures = await ask({ fetch: down })

  expect(failures.length).toBeGreaterThan(5)
  expect(failures[0]).toContain('cannot be reached: ENOTFOUND')
})

test('looks of before an upload, and of a watch that may have begun before it, are not believed', async () => {
  const report = async (reason: string | null) => {
    const parts = [
      { part: 'custody', reason: null },
      { part: 'vault', reason },
    ]
    await db.sql`select api.health_report(${db.sql.json(parts)})`
  }
  await db.sql`delete from private.health`
  await report(null)
  const since = await startOfNews(db.url)

  await opened.tick(59)
  await report(null)
  const early = await judgeLooks(db.url, since)
  await opened.tick(15)
  await report('unreachable')
  const failing = await judgeLooks(db.url, since)
  await opened.tick(15)
  await report(null)

  expect(early).toBe(
    'custody: not looked at since the upload, vault: not looked at since the upload',
  )
  expect(failing).toBe('vault: unreachable')
  expect(await judgeLooks(db.url, since)).toBeUndefined()
})

test('a deployment that the watch finds wrong is red, whatever its documents tell', async () => {
  const failures = await ask({ looks: async () => 'vault: unreachable' })

  expect(failures).toEqual(['the watch over custody and the vault says vault: unreachable'])
})
