/**
 * The pages that a browser can open. The list comes from the built app itself, so that none is forgotten. A
 * page that needs more than its address has a way here, and such a page without one is an error.
 */
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Page } from 'playwright-core'
import * as z from 'zod'
import type { WorldFile } from '../demo/client.ts'
import {
  askByCode,
  askDestination,
  askingUrl,
  askMandate,
  type ConnectingApp,
  createLink,
  openRegistration,
  redeem,
  register,
  registerApp,
  type Stage,
} from './stage.ts'

/** A page in one state. */
export type Place = {
  name: string
  by: 'owner' | 'stranger'
  /** Takes all steps that are needed and ends on the page. */
  open: (page: Page) => Promise<void>
}

const built = z.object({
  default: z.object({
    app: z.object({ routes: z.array(z.object({ method: z.string(), path: z.string() })) }),
  }),
})

/** Returns the paths of all pages that the app routes; `modules` is the folder of the built functions. */
export async function routesOf(modules: string): Promise<string[]> {
  const module: unknown = await import(pathToFileURL(join(modules, 'web.mjs')).href)
  const { routes } = built.parse(module).default.app
  const pages = routes.filter(({ method, path }) => method === 'GET' && !notPages.test(path))
  return [...new Set(pages.map(({ path }) => path))]
}

/** Paths that are not pages: middleware, answers to scripts and programs, and addresses that redirect. */
const notPages =
  /\*|\/assets\/|\.(json|csv|js|webmanifest)$|\/(status|last|alias|logout|receipt)$|\/file\/|\/recipients\/(add|label)$|\/keep-wallet\//

/** Pages for visitors without a session. */
const withoutSession = /^\/web\/(login|join|register|closed)\b/

/** Returns how each page is reached. A route may be shown in several states. */
export function placesOf(world: WorldFile, stage: Stage, routes: readonly string[]): Place[] {
  const ways = waysIn(world, stage)
  return routes.flatMap((route) => {
    const by = withoutSession.test(route) ? 'stranger' : 'owner'
    const states = ways[route] ?? { '': go(world, route) }
    return Object.entries(states).map(([state, open]): Place => {
      return { name: [route, state].join(' ').trim(), by, open }
    })
  })
}

type Way = Place['open']

function waysIn(
  world: WorldFile,
  { vaultEntry, waitingPayment, mandate }: Stage,
): Readonly<Record<string, Readonly<Record<string, Way>>>> {
  return {
    '/web/activity/:id': { '': followLink(world, '/web/activity', '/web/activity/') },
    '/web/payment/:payment': { '': followLink(world, '/web/activity', '/web/payment/') },
    '/web/keys': { '': go(world, '/web/keys'), made: makeKey(world) },
    '/web/keys/:key': { '': followLink(world, '/web/keys', '/web/keys/') },
    '/web/apps/:app': { '': connectApp(world) },
    '/web/authorize': { '': async (page) => void (await askFor(world, 'pay', page)) },
    '/web/device': {
      '': go(world, '/web/device'),
      asked: async (page) => void (await page.goto(await askByCode(world, 'pay'))),
    },
    '/web/approve/:payment': { '': at(waitingPayment) },
    '/web/approve/:payment/always': { '': at(`${waitingPayment}/always`) },
    '/web/approve-batch': { '': chooseAll(world) },
    '/web/mandate/:mandate': {
      '': at(mandate),
      active: approveMandate(world),
    },
    '/web/vault/:entry{[0-9a-f-]+}': {
      '': at(vaultEntry),
      shown: seeSecrets(vaultEntry),
    },
    '/web/vault/:entry{[0-9a-f-]+}/destinations': {
      '': async (page) =>
        void (await page.goto((await askDestination(world)).replace(/[^/]+$/, ''))),
    },
    '/web/vault/:entry{[0-9a-f-]+}/destinations/:destination': {
      '': async (page) => void (await page.goto(await askDestination(world))),
    },
    '/web/mail/:mail': { '': followLink(world, '/web/mail?direction=in', '/web/mail/') },
    '/web/recipients/add/:recipient': { '': go(world, `/web/recipients/add/${world.payee}`) },
    '/web/register/:link': {
      '': async (page) => void (await page.goto(await openRegistration(world))),
      opened: accountPage(world),
    },
    '/web/closed': { '': closeAccount(world) },
    '/web/join/code': { '': askForCode(world) },
    '/web/action/:token': {
      offered: async (page) => void (await page.goto(await createLink(world, 'deposit'))),
      deposit: openLink(world, 'deposit'),
      walletconnect: openLink(world, 'walletconnect'),
      human_verification: openLink(world, 'human_verification'),
      website_login: openLink(world, 'website_login', { site: 'https://bücher.example.com' }),
    },
  }
}

function go({ web_url }: WorldFile, route: string): Way {
  if (route.includes(':')) return () => Promise.reject(new Error(`${route} has no way: name one`))
  return async (page) => void (await page.goto(new URL(route, web_url).href))
}

function at(url: string): Way {
  return async (page) => void (await page.goto(url))
}

/** Goes to the first page of this kind that another page links to. */
function followLink(world: WorldFile, from: string, below: string): Way {
  return async (page) => {
    await go(world, from)(page)
    const link = page.locator(`main a[href^="${below}"]:not([href$="/new"])`).first()
    await go(world, (await link.getAttribute('href')) ?? '')(page)
  }
}

/** Goes to the page on which everything that waits can be approved at once. */
function chooseAll(world: WorldFile): Way {
  return async (page) => {
    await go(world, '/web/approvals')(page)
    for (const box of await page.getByRole('checkbox').all()) await box.check()
    await page.getByRole('button', { name: 'Review selected' }).click()
    await page.waitForURL('**/approve-batch?*')
  }
}

/** Registers an app on this computer and opens its request. Its users come back to the list of apps. */
async function askFor(
  world: WorldFile,
  scope: string,
  page: Page,
  name?: string,
): Promise<ConnectingApp> {
  const app = await registerApp(world, `${world.web_url}/apps`, name)
  await page.goto(askingUrl(world, app, scope))
  return app
}

function connectApp(world: WorldFile): Way {
  return async (page) => {
    const app = await askFor(world, 'pay', page, 'Reading desk')
    await page.getByRole('button', { name: 'Allow' }).click()
    await page.waitForURL('**/apps?*')
    await redeem(world, app, page.url())
    await go(world, '/web/apps')(page)
    await page.getByRole('link', { name: 'Reading desk' }).first().click()
    await page.waitForURL('**/apps/*')
  }
}

function approveMandate(world: WorldFile): Way {
  return async (page) => {
    await page.goto(await askMandate(world))
    await page.getByRole('button', { name: 'Approve the mandate' }).click()
    await page.getByRole('heading', { name: 'This mandate is active' }).waitFor()
  }
}

function openLink(world: WorldFile, kind: string, order: object = {}): Way {
  return async (page) => {
    await page.goto(await createLink(world, kind, order))
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByRole('button', { name: 'Continue' }).waitFor({ state: 'detached' })
  }
}

function seeSecrets(vaultEntry: string): Way {
  return async (page) => {
    await page.goto(vaultEntry)
    await page.getByRole('button', { name: 'Show the secrets' }).click()
    await page.getByRole('heading', { name: 'Secrets for' }).waitFor()
  }
}

function makeKey(world: WorldFile): Way {
  return async (page) => {
    await go(world, '/web/keys')(page)
    await page.getByLabel('Name', { exact: true }).fill('Research')
    await page.getByRole('button', { name: 'Create the key' }).click()
    await page.getByRole('heading', { name: 'Your new API key' }).waitFor()
  }
}

function accountPage(world: WorldFile): Way {
  return async (page) => {
    const name = `p-${randomBytes(6).toString('hex')}`
    await page.goto(await register(world, `${name}@example.com`, name))
    await page.getByLabel('Password', { exact: true }).fill(`four quiet words ${name}`)
    await page.getByRole('button', { name: 'Agree and open the account' }).click()
    await page.getByRole('heading', { name: 'Your account is open' }).waitFor()
  }
}

/** Opens an account and closes it. */
function closeAccount(world: WorldFile): Way {
  return async (page) => {
    await accountPage(world)(page)
    const alias = (await page.locator('main .lead strong').innerText()).replace(/@.*/, '')
    await go(world, '/web/security/close')(page)
    await page.getByRole('textbox').fill(alias)
    await page.getByRole('button', { name: 'Close the account' }).click()
    await page.waitForURL('**/closed')
  }
}

function askForCode(world: WorldFile): Way {
  return async (page) => {
    await go(world, '/web/join')(page)
    await page.getByRole('textbox').fill(`${randomBytes(6).toString('hex')}@example.com`)
    await page.getByRole('button', { name: 'Send the code' }).click()
    await page.waitForURL('**/join/code')
  }
}
