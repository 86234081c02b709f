/**
 * The aftermath of a robbery: the owner says "it was not me", and nothing that the thief made or holds
 * works any more.
 */
import * as z from 'zod'
import { openBrowser } from '../browserless.ts'
import { randomUUID } from '../seed.ts'
import type { OperationId } from './calls.ts'
import { call, operations } from './calls.ts'
import { post } from './forms.ts'
import { sessionDigest } from './home.ts'
import type { State } from './loot.ts'
import { newIn, stateOf } from './loot.ts'
import { table } from './table.ts'
import type { Thief } from './thief.ts'
import { comeByCode, comeIn, signedInBy } from './thief.ts'
import { comeByPasskey } from './ways.ts'

const untilUnguardedSeconds = 73 * 3_600

/** Descriptions of what is left; `isLockedOut` is true if the owner's only way in was taken. */
export type Aftermath = { left: string[]; isLockedOut: boolean }

/** Ends the robbery as the owner does, and tries everything that the thief holds. */
export async function endRobbery(thief: Thief, before: State, since: string): Promise<Aftermath> {
  const { world } = thief.home.town
  const { passkey } = table[thief.row]
  // Before that time, a password cannot end anything while a recovery guards the account.
  await world.tick(thief.row === 'code alone' ? untilUnguardedSeconds : 60)
  await world.db.sql`delete from private.rate_buckets`
  const credential = passkey ? await byOwnPasskey(thief) : await byOwnPassword(thief)
  if (credential === undefined) return { left: [], isLockedOut: true }
  await endStolen(thief, credential)
  await sayNotMe(thief, credential, since)
  const ended = await stateOf(thief.home)
  const left = leftIn(before, ended)
  const works = await tryEverything(thief)
  const after = await stateOf(thief.home)
  const came = newIn(ended, after).map((one) => `came later: ${one.kind} ${one.id} ${one.value}`)
  return { left: [...left, ...works, ...came], isLockedOut: false }
}

async function byOwnPasskey({ home }: Thief): Promise<string | undefined> {
  const { passkey, town } = home
  const [row] = await town.world.db.sql`
    select counter::text from private.passkeys where id = ${passkey?.id ?? ''}`
  const counter = Number(row?.['counter'])
  const came = await signedInBy(home, 'login_with_passkey', {
    passkey: passkey?.id ?? '',
    counter_seen: String(counter),
    counter_now: String(counter + 1),
    challenge: randomUUID().replaceAll('-', '').padEnd(43, 'x'),
  })
  return came?.credential
}

async function byOwnPassword({ home }: Thief): Promise<string | undefined> {
  const { email, passwordHash } = home
  const by = { email, password_hash: passwordHash }
  return (await signedInBy(home, 'login_with_password', by))?.credential
}

/** Ends the stolen key or app, which existed before the theft, as the owner. */
async function endStolen({ home, row }: Thief, credential: string): Promise<void> {
  const { bearer } = table[row]
  if (bearer === null) return
  const { world, db } = home.town.world
  const kind = bearer.kind === 'key' ? 'api_key' : 'oauth'
  const [held] = await db.sql`
    select id from private.credentials
     where account = ${home.account} and kind = ${kind} and scopes = ${[bearer.scope]}`
  const id = String(held?.['id'])
  if (bearer.kind === 'key') await world.db.call('owner_revoke_key', { credential, key: id })
  else await world.db.call('owner_disconnect_apps', { credential, app: id })
}

const list = z.tuple([z.object({ counts_from: z.string(), until: z.string(), digest: z.string() })])
const outcome = z.tuple([z.object({ outcome: z.literal('ended') })])

async function sayNotMe({ home }: Thief, credential: string, asked: string): Promise<void> {
  const { db } = home.town.world.world
  const made = await db.call('owner_list_made', { credential, since: asked })
  const [{ counts_from: since, until, digest }] = list.parse(made)
  const session_digest = await sessionDigest(`after ${credential}`)
  const shown = { since, until, digest, session_digest }
  const password_hash = `new ${home.passwordHash}`
  outcome.parse(await db.call('owner_end_made', { credential, ...shown, password_hash }))
}

/** Returns what is new in the account, except the owner's own session and password, and sent mail. */
function leftIn(before: State, after: State): string[] {
  const isOver = ['session', 'password', 'mail']
  return newIn(before, after)
    .filter(({ kind }) => !isOver.includes(kind))
    .filter((one) => {
      const was = before.things.find(({ kind, id }) => kind === one.kind && id === one.id)
      return !was || !isLess(one.kind, one.value, was.value)
    })
    .map((one) => `left: ${one.kind} ${one.id} ${one.value}`)
}

/** Decides whether a change may stay: limits stay narrowed, and a changed login is not restored. */
function isLess(kind: string, now: string, was: string): boolean {
  switch (kind) {
    case 'limit':
    case 'cap':
      return BigInt(now) <= BigInt(was)
    case 'mandate':
      return now === 'suspended'
    case 'frozen':
      return now === 'true'
    case 'shows codes':
      return now === 'false'
    default:
      return kind === 'entry'
  }
}

/** Tries every operation and way in with everything that the thief holds. */
async function tryEverything(thief: Thief): Promise<string[]> {
  const works: string[] = []
  for (const bearer of thief.bearers) {
    for (const one of await tryBearer(thief, bearer)) works.push(one)
  }
  for (const browser of thief.browsers.slice()) {
    const page = await browser.visit('/web/keys')
    const form = await post(browser, '/web/keys', { label: 'Mine', scope: 'full', days: '30' })
    if (!page.path.startsWith('/web/login')) works.push(`works: a session at ${page.path}`)
    if (/aoa_test_/.test(form.html)) works.push('works: a session makes a key')
  }
  for (const passkey of thief.passkeys) {
    if (await comeByPasskey(thief, passkey)) works.push('works: a passkey')
  }
  for (const code of thief.codes) if (await comeByCode(thief, code)) works.push('works: a code')
  for (const hash of thief.passwords) if (await comeIn(thief, hash)) works.push('works: a password')
  for (const link of thief.links) {
    const browser = openBrowser(thief.home.town.world)
    await browser.visit(link)
    const opened = await post(browser, `${link}/open`, {})
    const shown = await browser.visit(link)
    if (/\/enter"|\/verify"|\/connect"/.test(opened.html + shown.html)) works.push('works: a link')
  }
  return works
}

/**
 * Tries every operation with a bearer token. A stolen key that was revoked still freezes for three days,
 * and does nothing else.
 */
async function tryBearer(thief: Thief, bearer: string): Promise<string[]> {
  const works: string[] = []
  const isStolenKey = table[thief.row].bearer?.kind === 'key' && bearer === thief.bearers[0]
  const ids: OperationId[] = operations.map(({ id }) => id)
  for (const id of ids.filter((one) => !isStolenKey || one !== 'account_freeze')) {
    const { status } = await call(thief, bearer, { id, pick: 0, mimics: true })
    if (status !== 401) works.push(`works: ${id} answers ${status}`)
  }
  return works
}
