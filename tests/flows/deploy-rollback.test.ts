/** A deployment that fails or is stopped brings back what was there before it, however many runs it took. */
import { existsSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { deploy, takeBack } from '../../scripts/deploy/run.ts'
import { beforePath } from '../../scripts/deploy/upload/before.ts'
import { asOwner } from '../../scripts/serve/owner.ts'
import { stateOf } from '../support/cloudflare/upload.ts'
import { openDeployment } from '../support/deploy/deployment.ts'

type Opened = Awaited<ReturnType<typeof openDeployment>>

/** Opens a deployment that has run once, with another version to come. Returns what the account held before that. */
async function openDeployed() {
  const opened = await openDeployment()
  expect(await deploy(opened.given)).toBe(0)
  opened.code.word = 'second'
  return { opened, before: stateOf(opened.account) }
}

/** Runs until a line is said, and stops as Ctrl-C does. */
async function stopAt({ given }: Opened, at: string): Promise<void> {
  const stopping = new AbortController()
  const { signal } = stopping
  const say = (line: string) => line === at && stopping.abort()
  const cloudflare = { ...given.cloudflare, signal }
  await expect(deploy({ ...given, cloudflare, say, signal })).rejects.toThrow('aborted')
}

test('a red run after a stopped one brings back what was before both', async () => {
  const { opened, before } = await openDeployed()
  await stopAt(opened, 'aoa-app: uploading')
  expect(stateOf(opened.account)).not.toEqual(before)
  opened.service.reasons = ['custody_unreachable']

  expect(await deploy(opened.given)).toBe(1)

  expect(stateOf(opened.account)).toEqual(before)
  expect(existsSync(beforePath(opened.file))).toBe(false)
})

test('a stopped run is taken back by its own option, which says so if there is nothing', async () => {
  const { opened, before } = await openDeployed()
  await stopAt(opened, 'smoke test')

  expect(await takeBack(opened.given)).toBe(0)
  expect(stateOf(opened.account)).toEqual(before)
  expect(await takeBack(opened.given)).toBe(0)
  expect(opened.lines.at(-1)).toMatch(/^nothing to roll back: /)
})

test('a green run after a stopped one ends it', async () => {
  const { opened } = await openDeployed()
  await stopAt(opened, 'aoa-app: uploading')
  expect(existsSync(beforePath(opened.file))).toBe(true)

  expect(await deploy(opened.given)).toBe(0)

  expect(existsSync(beforePath(opened.file))).toBe(false)
})

test('an upload that is refused, and a smoke test that breaks, bring back what was there', async () => {
  const { opened, before } = await openDeployed()
  const { planned } = opened.given.workers
  const workers = {
    ...opened.given.workers,
    planned: async (...given: Parameters<typeof planned>) =>
      (await planned(...given)).map((plan) =>
        plan.name === 'aoa-web' ? { ...plan, routes: ['api.example.org/*'] } : plan,
      ),
  }
  const pause = async () => {
    throw new Error('out of memory')
  }

  expect(await deploy({ ...opened.given, workers })).toBe(1)
  expect(stateOf(opened.account)).toEqual(before)
  opened.service.reasons = ['custody_unreachable']
  expect(await deploy({ ...opened.given, pause })).toBe(1)
  expect(opened.lines).toContain('  WRONG out of memory')
  expect(stateOf(opened.account)).toEqual(before)
})

test('a refused restore is said, the others go on, and the file stays for the next try', async () => {
  const { opened, before } = await openDeployed()
  opened.service.reasons = ['custody_unreachable']
  const { fetch: send } = opened.given.cloudflare
  const refusing = async (input: string | URL | Request, init?: RequestInit) => {
    const { method, url } = new Request(input, init)
    if (method !== 'POST' || !url.includes('/aoa-mail/deployments')) return send(input, init)
    const errors = [{ code: 10_013, message: 'an unknown error has occurred' }]
    return Response.json({ success: false, errors, result: null }, { status: 400 })
  }
  const cloudflare = { ...opened.given.cloudflare, fetch: refusing }

  expect(await deploy({ ...opened.given, cloudflare })).toBe(1)

  const differing = stateOf(opened.account).workers.filter(
    (one, at) => JSON.stringify(one) !== JSON.stringify(before.workers[at]),
  )
  expect(differing.map(({ name }) => name)).toEqual(['aoa-mail'])
  expect(opened.lines.join('\n')).toContain('WRONG aoa-mail: Cloudflare refuses')
  expect(opened.lines.at(-1)).toContain('run npm run deploy -- --rollback')
  expect(await takeBack(opened.given)).toBe(0)
  expect(stateOf(opened.account)).toEqual(before)
})

test('health that only the workers of before have reported brings them back', async () => {
  const { opened, before } = await openDeployed()
  opened.service.isWatching = false
  await asOwner(
    opened.database.url,
    (sql) => sql`update private.health set looked_at = private.clock()`,
  )

  expect(await deploy(opened.given)).toBe(1)

  expect(opened.lines.join('\n')).toContain('custody: not looked at since the upload')
  expect(stateOf(opened.account)).toEqual(before)
})

test('a relayer without gas brings nothing back', async () => {
  const { opened, before } = await openDeployed()

  expect(await deploy(opened.given)).toBe(0)

  expect(opened.lines).toContainEqual(expect.stringMatching(/^Send gas to the relayer of base/))
  expect(stateOf(opened.account)).not.toEqual(before)
})

test('the file holds no secret', async () => {
  const { opened } = await openDeployed()
  await stopAt(opened, 'smoke test')

  const text = readFileSync(beforePath(opened.file), 'utf8')

  const { workers } = z.object({ workers: z.record(z.string(), z.json()) }).parse(JSON.parse(text))
  expect(Object.keys(workers)).toHaveLength(7)
  for (const { bindings = [] } of stateOf(opened.account).workers) {
    for (const one of bindings) if (one.type === 'secret_text') expect(text).not.toContain(one.text)
  }
})
