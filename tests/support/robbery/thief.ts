/** A thief: everything that it holds, and every answer that it got. */
import { openSessionToken } from '../../../shared/auth/session.ts'
import type { Authenticator } from '../authenticator.ts'
import type { Browser, Shown } from '../browserless.ts'
import { openBrowser } from '../browserless.ts'
import { randomBytes } from '../seed.ts'
import type { Answer } from '../world.ts'
import type { Home } from './home.ts'
import { addressOf, sessionDigest } from './home.ts'
import type { Bearer, RowName } from './table.ts'
import { table } from './table.ts'

export type Thief = {
  home: Home
  row: RowName
  /** Keys and access tokens. */
  bearers: string[]
  browsers: Browser[]
  passwords: string[]
  codes: string[]
  passkeys: Authenticator[]
  /** Addresses of links that it had created. */
  links: string[]
  address: string
  /** Statuses and texts of all answers to it, from pages and operations alike. */
  heard: { what: string; status: number; text: string }[]
}

/** Gives the thief what the row names. */
export async function openThief(home: Home, row: RowName): Promise<Thief> {
  const thief: Thief = {
    home,
    row,
    bearers: [],
    browsers: [],
    passwords: [],
    codes: [],
    passkeys: [],
    links: [],
    address: addressOf('e'),
    heard: [],
  }
  await arm(thief)
  return thief
}

const elevenMinutes = 11 * 60

async function arm(thief: Thief): Promise<void> {
  const { home, row } = thief
  const { world } = home.town
  if (row === 'mailbox') return
  if (row === 'code' || row === 'code alone') return armWithCode(thief, home.codes[0] ?? '')
  if (row === 'cookie') {
    await comeIn(thief, home.passwordHash)
    await world.tick(elevenMinutes)
    return
  }
  if (row === 'password' || row === 'password alone') {
    thief.passwords.push(home.passwordHash)
    await comeIn(thief, home.passwordHash)
    return
  }
  const { bearer } = table[row]
  if (bearer) thief.bearers.push(heldOf(home, bearer))
}

const heldOf = ({ keys, apps }: Home, { kind, scope }: Bearer) =>
  kind === 'key' ? keys[scope].key : apps[scope].token

/** Signs in with a recovery code on its page. */
async function armWithCode(thief: Thief, code: string): Promise<void> {
  if (!(await comeByCode(thief, code))) throw new Error('the code lets nobody in')
}

export async function comeByCode(thief: Thief, code: string): Promise<boolean> {
  const { email, town } = thief.home
  const browser = openBrowser(town.world)
  await browser.visit('/web/login/recovery')
  hear(thief, 'recovery', await browser.submit({ email, code }))
  if (!browser.cookies.has('__Host-aoa_session')) return false
  thief.browsers.push(browser)
  return true
}

/** Signs in by the database's own function, because hashing a password takes a quarter of a second. */
export async function comeIn(thief: Thief, passwordHash: string): Promise<boolean> {
  const { email } = thief.home
  const by = { email, password_hash: passwordHash }
  const came = await signedInBy(thief.home, 'login_with_password', by)
  if (came) thief.browsers.push(came.browser)
  return came !== undefined
}

/** Opens a session by an SQL function and returns its browser, or undefined if the sign-in fails. */
export async function signedInBy(
  { account, town: { world } }: Pick<Home, 'account' | 'town'>,
  name: 'login_with_password' | 'login_with_passkey',
  by: Record<string, string>,
): Promise<{ browser: Browser; credential: string } | undefined> {
  const sid = randomBytes(32).toString('base64url')
  const credential = await sessionDigest(sid)
  const client = randomBytes(4).join('.')
  const rows: unknown = await world.world.db.call(name, {
    ...by,
    session_digest: credential,
    user_agent: 'A browser',
    client,
  })
  if (!Array.isArray(rows) || rows.length === 0) return undefined
  const expiresAt = new Date(world.world.now().getTime() + 12 * 3_600_000)
  const token = await openSessionToken(world.world, { sid, account, expiresAt })
  const browser = openBrowser(world)
  browser.cookies.set('__Host-aoa_session', token)
  return { browser, credential }
}

/** Records an answer. */
export function hear(thief: Thief, what: string, answer: Answer | Shown): void {
  const text = 'html' in answer ? answer.html : JSON.stringify(answer.body)
  thief.heard.push({ what, status: answer.status, text })
}
