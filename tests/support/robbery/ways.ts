/** A thief's ways to sign in with what it holds, to create ways in of its own, and to connect its app. */
import * as z from 'zod'
import { askingPath, redirectUri, registerApp, shownIn, verifier } from '../apps.ts'
import { openAuthenticator, optionsOf } from '../authenticator.ts'
import type { Browser } from '../browserless.ts'
import { openBrowser } from '../browserless.ts'
import { post } from './forms.ts'
import type { Thief } from './thief.ts'
import { comeByCode, comeIn, hear } from './thief.ts'

const passkeyPage = '/web/security/passkeys'

/** Adds a passkey of the thief's own. */
export async function plantPasskey(thief: Thief, browser: Browser): Promise<void> {
  const passkey = openAuthenticator()
  await browser.visit(passkeyPage)
  const options = z
    .looseObject({ challenge: z.string() })
    .safeParse(await tryOptions(browser, passkeyPage))
  if (!options.success) return
  const answer = passkey.create(options.data)
  const added = await post(browser, passkeyPage, { deed: 'add', label: 'Theirs', answer })
  hear(thief, 'add a passkey', added)
  thief.passkeys.push(passkey)
}

async function tryOptions(browser: Browser, path: string): Promise<unknown> {
  return optionsOf(browser, path).catch(() => undefined)
}

/** Signs in with a passkey that it registered; fails if the account does not accept it. */
export async function comeByPasskey(
  thief: Thief,
  passkey: ReturnType<typeof openAuthenticator>,
): Promise<boolean> {
  const browser = openBrowser(thief.home.town.world)
  await browser.visit('/web/login')
  const options = await tryOptions(browser, '/web/login/passkey')
  const answer = await post(browser, '/web/login/passkey', { answer: passkey.get(options) })
  hear(thief, 'sign in by passkey', answer)
  if (!browser.cookies.has('__Host-aoa_session')) return false
  thief.browsers.push(browser)
  return true
}

/** Signs in by one of the ways that it holds, at `pick` modulo their number. */
export async function comeBack(thief: Thief, pick: number): Promise<void> {
  const ways = [
    ...thief.passkeys.map((passkey) => () => comeByPasskey(thief, passkey)),
    ...thief.codes.map((code) => () => comeByCode(thief, code)),
    ...thief.passwords.map((password) => () => comeIn(thief, password)),
  ]
  await ways[pick % Math.max(ways.length, 1)]?.()
}

/** Makes recovery codes and keeps those that the page shows. */
export async function makeCodes(thief: Thief, browser: Browser): Promise<void> {
  const path = '/web/security/recovery-codes'
  await browser.visit(path)
  const made = await post(browser, path, {})
  hear(thief, 'make codes', made)
  thief.codes.push(...new Set(made.html.match(/\b[0-9a-z]{4}(-[0-9a-z]{4}){3}\b/g)))
}

/** Makes a key and keeps it. */
export async function makeKey(thief: Thief, browser: Browser, scope: string): Promise<void> {
  const made = await post(browser, '/web/keys', { label: 'Theirs', scope, days: '30' })
  hear(thief, 'make a key', made)
  thief.bearers.push(...new Set(made.html.match(/aoa_test_[0-9A-Za-z_-]{20,}/g)))
}

const tokens = z.object({ access_token: z.string() })

/** Connects an app of its own and keeps its token. */
export async function letAppIn(thief: Thief, browser: Browser, level: string): Promise<void> {
  const { world } = thief.home.town
  const client = await registerApp(world, { name: 'Theirs' })
  const path = askingPath(client, { scope: level })
  const { html } = await browser.visit(path)
  const terms = { level, days: '30', usd_each: '100', usd_day: '100' }
  const answer = await post(browser, path, {
    decision: 'allowed',
    client,
    shown: shownIn(html),
    ...terms,
  })
  hear(thief, 'let an app in', answer)
  const [, code] = /[?&]code=([^&]+)/.exec(answer.headers.get('refresh') ?? '') ?? []
  if (code === undefined) return
  const body = new URLSearchParams({
    grant_type: 'authorization_code',
    code,
    client_id: client,
    redirect_uri: redirectUri,
    code_verifier: verifier,
  })
  const granted = await world.send('/oauth/token', { method: 'POST', body })
  const parsed = tokens.safeParse(granted.body)
  if (parsed.success) thief.bearers.push(parsed.data.access_token)
}

/** Opens a link that it had created and enters a login there. */
export async function useLink(thief: Thief, browser: Browser, pick: number): Promise<void> {
  const link = thief.links[pick % Math.max(thief.links.length, 1)]
  if (link === undefined) return
  hear(thief, 'a link', await browser.visit(link))
  hear(thief, 'open a link', await post(browser, `${link}/open`, {}))
  const login = { username: 'me', password: 'of the thief, long' }
  hear(thief, 'type a login', await post(browser, `${link}/enter`, login))
}
