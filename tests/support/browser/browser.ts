/**
 * A person with a browser in front of the running product. Every visitor has cookies of its own, and
 * what its console complains about fails the test that it belongs to.
 */
import type { BrowserContext, BrowserContextOptions, CDPSession, Page } from 'playwright-core'
import { chromium } from 'playwright-core'
import { afterAll, afterEach, expect, inject } from 'vitest'
import * as z from 'zod'

const sceneSchema = z.object({
  chromiumUrl: z.url(),
  world: z.object({
    base_url: z.url(),
    web_url: z.url(),
    api_keys: z.object({ read: z.string(), pay: z.string(), full: z.string() }),
    owner: z.object({ email: z.string(), alias: z.string() }),
    payee: z.string(),
    chains: z.array(z.object({ id: z.int(), rpc_url: z.url(), usdc: z.string() })),
  }),
})

export type Facts = z.output<typeof sceneSchema>['world']

export type Visitor = {
  context: BrowserContext
  page: Page
  /** What its console said that no page of ours should cause, refused styles and scripts included. */
  complaints: string[]
}

export type VisitorOptions = Pick<
  BrowserContextOptions,
  'javaScriptEnabled' | 'colorScheme' | 'viewport'
>

export type Scene = {
  facts: Facts
  /** A browser without history. */
  visitor(options?: VisitorOptions): Promise<Visitor>
}

/** Joins the scene that all browser tests share, for this file. */
export async function openScene(): Promise<Scene> {
  const answer = await fetch(inject('sceneUrl'))
  if (!answer.ok) throw new Error(await answer.text())
  const { chromiumUrl, world: facts } = sceneSchema.parse(await answer.json())
  const browser = await chromium.connect(chromiumUrl)
  const visitors: Visitor[] = []
  afterAll(() => browser.close())
  afterEach(async () => {
    const here = visitors.splice(0)
    await Promise.all(here.map(({ context }) => context.close()))
    expect(here.flatMap(({ complaints }) => complaints)).toEqual([])
  })
  return {
    facts,
    async visitor(options = {}) {
      const context = await browser.newContext({ baseURL: facts.web_url, ...options })
      context.setDefaultTimeout(10_000)
      const page = await context.newPage()
      const visitor = { context, page, complaints: complaintsOf(context) }
      visitors.push(visitor)
      return visitor
    },
  }
}

function complaintsOf(context: BrowserContext): string[] {
  const complaints: string[] = []
  context.on('console', (message) => {
    // The status of the page itself is for the test to judge; of what the page loads, see below.
    if (message.text().startsWith('Failed to load resource: the server responded')) return
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text())
  })
  context.on('response', (response) => {
    const isPage = response.request().resourceType() === 'document'
    if (!isPage && !response.ok()) complaints.push(`${response.status()} ${response.url()}`)
  })
  context.on('weberror', (error) => complaints.push(String(error.error())))
  return complaints
}

/** A device of the visitor that holds passkeys and says yes to every question at once. */
export async function giveAuthenticator({ context, page }: Visitor): Promise<CDPSession> {
  const session = await context.newCDPSession(page)
  await session.send('WebAuthn.enable')
  await session.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      ctap2Version: 'ctap2_1',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  })
  return session
}
