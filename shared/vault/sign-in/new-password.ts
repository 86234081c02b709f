/**
 * Changes a password by a form that the site serves. The service generates the new password and stores it
 * before it is sent, so that none is lost. The old one stays the entry's password until the site's answer
 * shows that it accepted the new one. If the answer shows neither, both are kept.
 */
import * as z from 'zod'
import type { Refusal } from '../../contract/errors.ts'
import { fail } from '../../contract/errors.ts'
import {
  decodeSecret,
  encodeSecret,
  type Secret,
  withAnsweredPassword,
  withAskedPassword,
} from '../entries/record.ts'
import { sealRecord } from '../envelope.ts'
import { newPassword, usualRules } from '../passwords/password.ts'
import type { Browsed } from './browse.ts'
import { type PasswordChange, passwordChangeIn, passwordField } from './fields.ts'
import type { PasswordOutcome } from './port.ts'
import type { Visit } from './visit.ts'

/** Fewest characters of a new password, even if the page allows fewer. */
const charactersMin = 8
const triesMax = 6

/** Row of the entry's current version; the account's key is known already. */
const presentRow = z.object({ version: z.int(), sealed: z.unknown() })
const keptRow = z.object({ kept: z.boolean() })

/** Generates a password that the fields of the form accept. */
export function passwordFor(
  { room: { world } }: Pick<Visit, 'room'>,
  { fresh }: PasswordChange,
  given?: string,
): { password: string } | { refused: string } {
  const ofPage = fresh.map(({ rules }) => rules).join('; ')
  const usual = given ?? (/required|allowed/i.test(ofPage) ? '' : usualRules)
  const rules = `${usual}; ${ofPage}`
  const drawn = newPassword((length) => world.randomBytes(length), { rules })
  const isShort = 'password' in drawn && drawn.password.length < charactersMin
  return isShort ? { refused: `The form takes no password of ${charactersMin} characters.` } : drawn
}

/** Stores the password that is about to be sent, beside the one that the site knows. */
export function storeSent(visit: Visit, password: string): Promise<Refusal | undefined> {
  return change(visit, 'new_password_sent', (present) => withAskedPassword(present, password))
}

/** Makes the password the entry's, discards it, or leaves both, depending on the outcome. */
export async function settle(
  visit: Visit,
  password: string,
  outcome: PasswordOutcome,
): Promise<Refusal | undefined> {
  if (outcome === 'undecided') return undefined
  const type = outcome === 'changed' ? 'password_changed' : 'new_password_refused'
  return change(visit, type, (present) =>
    withAnsweredPassword(present, password, outcome === 'changed'),
  )
}

/**
 * Returns the outcome that a site's answer to the form shows. Changed: it leads to a page that asks for no
 * password. Refused: its status says so. The words of the page are not read.
 */
export function outcomeOfChange(browsed: Browsed): PasswordOutcome {
  const { fetched, redirects } = browsed
  if (fetched.kind !== 'answered' || fetched.truncated) return 'undecided'
  if (redirects === 0) return isRefusing(fetched.status) ? 'refused' : 'undecided'
  return isWelcome(browsed) ? 'changed' : 'undecided'
}

/** Returns the outcome that the answer to a sign-in with the new password shows. */
export function outcomeOfSignIn(browsed: Browsed): PasswordOutcome {
  return browsed.fetched.kind === 'answered' && !browsed.fetched.truncated && isWelcome(browsed)
    ? 'changed'
    : 'undecided'
}

function isRefusing(status: number): boolean {
  return [400, 401, 403, 409, 412, 422].includes(status)
}

function isWelcome({ fetched, forms }: Browsed): boolean {
  const isPage = fetched.kind === 'answered' && fetched.status >= 200 && fetched.status < 300
  return isPage && !forms.some((form) => passwordField(form) ?? passwordChangeIn(form))
}

async function change(
  { room, db, home }: Visit,
  type: string,
  secretOf: (present: Secret) => Secret | { refused: string },
): Promise<Refusal | undefined> {
  const { account, wrap, entry, site } = home
  const random = (length: number) => room.world.randomBytes(length)
  for (let tries = 0; tries < triesMax; tries += 1) {
    const opened = await db.one('vault_open_use', { entry, handles: [] }, presentRow)
    if (!opened) throw new Error('vault_open_use answered no row')
    const { version, sealed } = opened
    const binding = { account, record: entry, version, site }
    const secret = secretOf(decodeSecret(room.open('vault', { ...binding, wrap, sealed })))
    if ('refused' in secret) return fail('form_refused', { message: secret.refused })
    const next = { ...binding, version: version + 1 }
    const keys = { roots: room.roots('vault'), wrap }
    const asked = {
      entry,
      was_version: version,
      sealed: sealRecord(keys, random, next, encodeSecret(secret)),
      type,
    }
    const kept = await db.one('vault_keep_password', asked, keptRow)
    if (kept?.kept) return undefined
  }
  return fail('conflict')
}
