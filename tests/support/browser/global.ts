/**
 * One local world and one Chromium for all browser tests. Both start when the first test asks for
 * them, so that a run of other files, and the files before, pay nothing.
 */
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import * as z from 'zod'
import { launchChromium } from '../../../scripts/local/chromium.ts'
import { createEndings } from '../../../scripts/local/endings.ts'
import { openLocalWorld } from '../../../scripts/local/world.ts'
import { routesOf } from '../../../scripts/screenshots/places.ts'
import { startRelayStandIn } from '../walletconnect/relay.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    /** Answers what `openScene` made, as JSON; starts it when nobody asked before. */
    sceneUrl: string
  }
}

/** Of nobody with the real relay. */
const projectId = 'a-project-of-the-tests'

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const endings = createEndings(new AbortController().signal)
  let scene: Promise<string> | undefined
  const server = createServer((_request, response) => {
    scene ??= openScene(endings)
    scene.then(
      (facts) => response.end(facts),
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

/** What `npm start` starts, in a directory of its own, and a browser beside it. */
async function openScene(endings: ReturnType<typeof createEndings>): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), 'aoa-browser-'))
  await endings.keep(Promise.resolve(), async () =>
    rmSync(directory, { recursive: true, force: true }),
  )
  const { signal } = new AbortController()
  const starting = startRelayStandIn(projectId)
  const { url } = await endings.keep(starting, async (relay) => relay.close())
  const bindings = { WALLETCONNECT_PROJECT_ID: projectId, WALLETCONNECT_RELAY_URL: url }
  const opening = openLocalWorld({ port: 0, directory, bindings, signal, say() {} })
  await endings.keep(opening, (world) => world.stop())
  const chromium = await endings.keep(launchChromium(), (browser) => browser.close())
  const world: unknown = JSON.parse(readFileSync(join(directory, 'world.json'), 'utf8'))
  const routes = await routesOf(join(directory, 'functions'))
  const relay = { url, project_id: projectId }
  return JSON.stringify({ world, routes, relay, chromiumUrl: chromium.wsEndpoint() })
}
