/**
 * One local world and one Chromium for all browser tests. Both start when the first test asks for them, so
 * that runs without browser tests, and the files before, do not pay for them.
 */
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import postgres from 'postgres'
import type { TestProject } from 'vitest/node'
import * as z from 'zod'
import { launchChromium } from '../../../scripts/local/browser.ts'
import { createEndings } from '../../../scripts/local/process/endings.ts'
import { openLocalWorld } from '../../../scripts/local/world.ts'
import { routesOf } from '../../../scripts/screenshots/places.ts'
import { startRelayStandIn } from '../walletconnect/relay.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    /** URL that answers what `openScene` made, as JSON, and starts it on the first request. */
    sceneUrl: string
  }
}

/** A project id that the real relay does not know. */
const projectId = 'a-project-of-the-tests'

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const endings = createEndings(new AbortController().signal)
  let scene: Promise<Opened> | undefined
  const server = createServer((_request, response) => {
    scene ??= openScene(endings)
    scene.then(
      async ({ facts, sql }) => {
        // Between two files hours pass, as far as sign-ups are counted. A code that another file waits for stays good.
        await sql`update private.signups set created_at = created_at - interval '2 hours'
          where confirmed_at is not null`
        response.end(facts)
      },
      (error: unknown) => response.writeHead(500).end(String(error)),
    )
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = z.object({ port: z.int() }).parse(server.address())
  project.provide('sceneUrl', `http://127.0.0.1:${port}/`)
  return async () => {
    server.closeAllConnections()
    server.close()
    await scene?.catch(() => undefined)
    await endings.endAll()
  }
}

type Opened = { facts: string; sql: postgres.Sql }

/** Starts what `npm start` starts, in its own directory, and a browser with it. */
async function openScene(endings: ReturnType<typeof createEndings>): Promise<Opened> {
  const directory = mkdtempSync(join(tmpdir(), 'aoa-browser-'))
  await endings.keep(Promise.resolve(), async () =>
    rmSync(directory, { recursive: true, force: true }),
  )
  const { signal } = new AbortController()
  const starting = startRelayStandIn(projectId)
  const { url } = await endings.keep(starting, async (relay) => relay.close())
  const bindings = { WALLETCONNECT_PROJECT_ID: projectId, WALLETCONNECT_RELAY_URL: url }
  const opening = openLocalWorld({ port: 0, directory, bindings, signal, say() {} })
  const { databaseUrl } = await endings.keep(opening, (world) => world.stop())
  const sql = postgres(databaseUrl, { max: 1, onnotice() {} })
  await endings.keep(Promise.resolve(), () => sql.end({ timeout: 1 }))
  const chromium = await endings.keep(launchChromium(), (browser) => browser.close())
  const world: unknown = JSON.parse(readFileSync(join(directory, 'world.json'), 'utf8'))
  const routes = await routesOf(join(directory, 'functions'))
  const relay = { url, project_id: projectId }
  const facts = JSON.stringify({ world, routes, relay, chromiumUrl: chromium.wsEndpoint() })
  return { facts, sql }
}
