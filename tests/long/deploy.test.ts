/**
 * A deployment with the real wrangler to the fake account, whose workers then run and are asked: the tokens that
 * were minted open the database for custody and the vault.
 */
import { request } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { expect, test, vi } from 'vitest'
import { judgeLooks, startOfNews } from '../../scripts/deploy/database.ts'
import { plannedWorkers } from '../../scripts/deploy/plan.ts'
import { cloudflareWorkers } from '../../scripts/deploy/ready-workers.ts'
import { deploy } from '../../scripts/deploy/run.ts'
import { type Gateway, startGateway } from '../../scripts/local/gateway.ts'
import { type Running, runAccount } from '../support/cloudflare/run.ts'
import { baseUrl, openDeployment } from '../support/deploy/deployment.ts'
import { atEnd } from '../support/ending.ts'

const port = 20_000 + ((process.pid + 4_100) % 10_000)

test('the workers of a deployment answer with custody and vault live, and a second run uploads nothing', async () => {
  const opened = await openDeployment()
  const { given, supabase, database, account } = opened
  let gateway: Gateway | undefined
  let running: Promise<Running> | undefined
  let news: string | undefined
  opened.service.isWatching = false
  atEnd(async () => (await running)?.stop())
  atEnd(() => gateway?.close())

  const run = () =>
    deploy({
      ...given,
      workers: {
        async planned(values, form) {
          const apiKeys = supabase.apiKeys.map(({ api_key }) => [api_key, 'anon'] as const)
          const keys = { apiKeys: Object.fromEntries(apiKeys), jwks: supabase.jwks() }
          gateway ??= await startGateway({ databaseUrl: database.url, schema: 'api', keys })
          return plannedWorkers({ ...values, SUPABASE_URL: gateway.url }, form)
        },
        upload: (order) => cloudflareWorkers.upload(order),
      },
      async fetch(input, init) {
        const asked = new Request(input, init)
        if (!asked.url.startsWith(baseUrl)) return given.fetch(asked)
        running ??= runAccount(account.account, port, () => {})
        await running
        return askLocal(asked)
      },
      async pause(milliseconds) {
        await given.pause(milliseconds)
        if (milliseconds !== 5_000) return
        // The schedules run by a clock that nothing moves.
        const since = (news ??= await startOfNews(database.url))
        const isNews = async () => (await judgeLooks(database.url, since)) === undefined
        await vi.waitUntil(isNews, { timeout: 200_000, interval: 1_000 })
      },
    })

  expect(await run(), opened.lines.join('\n')).toBe(0)
  const changes = account.changes.length
  expect(await run()).toBe(0)
  expect(account.changes).toHaveLength(changes)
  expect(account.account.scripts.size).toBe(7)
}, 500_000)

/** Sends a request for the deployed host to the workers of this machine. */
async function askLocal(asked: Request): Promise<Response> {
  const { pathname, host } = new URL(asked.url)
  const headers = { ...Object.fromEntries(asked.headers), host }
  const sent = request({ host: '127.0.0.1', port, path: pathname, method: asked.method, headers })
  const answered = new Promise<Response>((resolve, reject) => {
    sent.on('error', reject)
    sent.on('response', (answer) => {
      buffer(answer).then((body) => {
        const pairs = Object.entries(answer.headers).map(([name, value]): [string, string] => [
          name,
          String(value),
        ])
        resolve(
          new Response(new Uint8Array(body), { status: answer.statusCode ?? 0, headers: pairs }),
        )
      }, reject)
    })
  })
  sent.end(await asked.text())
  return answered
}
