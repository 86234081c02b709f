/**
 * Takes pictures of every page of the app as the owner of a used account sees it: in light and dark, on a
 * desktop and on a phone. It starts a world of its own for this and throws it away.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import type { Browser } from 'playwright-core'
import { chromium } from 'playwright-core'
import { readWorldFile, type WorldFile } from './demo/client.ts'
import { launchChromium } from './local/browser.ts'
import { createEndings } from './local/process/endings.ts'
import { openLocalWorld } from './local/world.ts'
import { type Place, placesOf, routesOf } from './screenshots/places.ts'
import { setStage, signInAs } from './screenshots/stage.ts'

const help = `node scripts/screenshots.ts [--out .local/screenshots] [--only /web/mail]

Starts a world of its own on free ports, uses the demo account, and writes a picture of every page in
light and dark, for desktop and phone, to <out>/<mode>/<page>.png.

--out   where the pictures are written
--only  a part of the path of the pages to take`

const modes = {
  'desktop-light': { viewport: { width: 1280, height: 800 }, colorScheme: 'light' },
  'desktop-dark': { viewport: { width: 1280, height: 800 }, colorScheme: 'dark' },
  'phone-light': { viewport: { width: 360, height: 740 }, colorScheme: 'light' },
  'phone-dark': { viewport: { width: 360, height: 740 }, colorScheme: 'dark' },
} as const

const { values } = parseArgs({
  options: {
    help: { type: 'boolean', short: 'h' },
    out: { type: 'string', default: '.local/screenshots' },
    only: { type: 'string', default: '' },
  },
})

if (values.help) console.log(help)
else process.exit(await run(resolve(values.out), values.only))

async function run(out: string, only: string): Promise<number> {
  const stopping = new AbortController()
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, () => stopping.abort())
  const { signal } = stopping
  const endings = createEndings(signal)
  const directory = mkdtempSync(join(tmpdir(), 'aoa-screenshots-'))
  try {
    const opening = openLocalWorld({ port: 0, directory, signal, say: console.log })
    await endings.keep(opening, (world) => world.stop())
    const server = await endings.keep(launchChromium(), (browser) => browser.close())
    const world = readWorldFile(join(directory, 'world.json'))
    const stage = await setStage(world)
    const places = placesOf(world, stage, await routesOf(join(directory, 'functions')))
    const chosen = places.filter(({ name }) => name.includes(only))
    await takeAll(await chromium.connect(server.wsEndpoint()), world, chosen, out)
    return 0
  } catch (error) {
    console.error(error)
    return 1
  } finally {
    await endings.endAll()
    rmSync(directory, { recursive: true, force: true })
  }
}

async function takeAll(browser: Browser, world: WorldFile, places: readonly Place[], out: string) {
  const context = await browser.newContext()
  await signInAs(await context.newPage(), world)
  const storageState = await context.storageState()
  for (const [mode, look] of Object.entries(modes)) {
    mkdirSync(join(out, mode), { recursive: true })
    const owner = await browser.newContext({ ...look, storageState })
    const stranger = await browser.newContext(look)
    for (const { name, by, open } of places) {
      const page = await { owner, stranger }[by].newPage()
      await open(page)
      const file = name.replaceAll(/[^a-z0-9]+/gi, '-').replaceAll(/^-|-$/g, '')
      await page.screenshot({ path: join(out, mode, `${file}.png`), fullPage: true })
      await page.close()
    }
    console.log(`${places.length} pages in ${mode}`)
  }
}
