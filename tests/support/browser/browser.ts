/**
 * People with a browser in front of the running product. Each visitor has its own cookies, and an error in
 * its console fails the test that it belongs to.
 */

import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import { chromium } from 'playwright-core'
import { afterEach, expect, inject } from 'vitest'
import * as z from 'zod'
import { type WorldFile, worldFile } from '../../../scripts/demo/client.ts'
import { signInAs } from '../../../scripts/screenshots/stage.ts'
import { atEnd } from '../ending.ts'

const sceneSchema = z.object({
  chromiumUrl: z.url(),
  routes: z.array(z.string()),
  world: worldFile,
  relay: z.object({ url: z.url(), project_id: z.string() }),
})

export type Visitor = {
  context: BrowserContext
  page: Page
  /** Console messages that no page of ours should cause, refused styles and scripts included. */
  complaints: string[]
}

export type VisitorOptions = Pick<
  BrowserContextOptions,
  'javaScriptEnabled' | 'colorScheme' | 'reducedMotion' | 'viewport'
>

export type Scene = {
  facts: WorldFile
  /** The WalletConnect relay that the product is configured with. */
  relay: { url: string; project_id: string }
  /** Paths of the app's pages, from its router. */
  routes: readonly string[]
  /** Opens a browser without history. */
  stranger(options?: VisitorOptions): Promise<Visitor>
  /** Opens a browser in which the owner of the demo account is signed in. */
  owner(options?: VisitorOptions): Promise<Visitor>
}

/** Joins this file to the scene that all browser tests share. */
export async function openScene(): Promise<Scene> {
  const answer = await fetch(inject('sceneUrl'))
  if (!answer.ok) throw new Error(await answer.text())
  const { chromiumUrl, world: facts, routes, relay } = sceneSchema.parse(await answer.json())
  const browser = await chromium.connect(chromiumUrl)
  const visitors: Visitor[] = []
  atEnd(() => browser.close())
  afterEach(async () => {
    const here = visitors.splice(0)
    await Promise.all(here.map(({ context }) => context.close()))
    expect(here.flatMap(({ complaints }) => complaints)).toEqual([])
  })
  const visit = async (options: BrowserContextOptions) => {
    const visitor = await openVisitor(browser, { baseURL: facts.web_url, ...options })
    visitors.push(visitor)
    return visitor
  }
  return {
    facts,
    relay,
    routes,
    stranger: (options = {}) => visit(options),
    async owner(options = {}) {
      signedIn ??= signIn(browser, facts)
      return visit({ ...options, storageState: await signedIn })
    },
  }
}

async function openVisitor(browser: Browser, options: BrowserContextOptions): Promise<Visitor> {
  const context = await browser.newContext(options)
  // A step may take long on a busy machine.
  context.setDefaultTimeout(60_000)
  const page = await context.newPage()
  return { context, page, complaints: complaintsOf(context) }
}

function complaintsOf(context: BrowserContext): string[] {
  const complaints: string[] = []
  context.on('console', (message) => {
    // The test itself judges the status of the page. The status of what the page loads is checked below.
    if (message.text().startsWith('Failed to load resource: the server responded')) return
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text())
  })
  context.on('response', (response) => {
    const isPage = response.request().resourceType() === 'document'
    if (!isPage && response.status() >= 400)
      complaints.push(`${response.status()} ${response.url()}`)
  })
  context.on('weberror', (error) => complaints.push(String(error.error())))
  return complaints
}

type State = Awaited<ReturnType<BrowserContext['storageState']>>

/** Sign-ins are rate limited, so a file signs in once and its visitors start with the same cookies. */
let signedIn: Promise<State> | undefined

async function signIn(browser: Browser, facts: WorldFile): Promise<State> {
  const context = await browser.newContext()
  try {
    await signInAs(await context.newPage(), facts)
    return await context.storageState()
  } finally {
    await context.close()
  }
}
