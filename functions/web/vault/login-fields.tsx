/**
 * Fields of a login. Secrets are never filled in: not by us, and not by the browser with what it stores
 * for this service, because the fields are declared as new.
 */
import type * as z from 'zod'
import {
  errorTable,
  fail,
  isRefusal,
  type Refusal,
  Rejection,
} from '../../../shared/contract/errors.ts'
import { storeRequest } from '../../../shared/contract/vault-entry.ts'
import { markHidden } from '../../../shared/text/untrusted.ts'
import type { StoredEntry } from '../../../shared/vault/entries/entries-port.ts'
import { Area, Checkbox, Field } from '../ui/form.tsx'
import type { PageContext } from '../visit.ts'
import { vaultOf } from './entry-lines.tsx'
import type { OwnerEntry } from './vault-data.ts'

/** Number of characters stored of each field at most. */
const usernameMax = 320
const secretMax = 1_024
const notesMax = 4_096

const keeps = 'Leave empty to keep what is stored.'

/** Sentence about what cannot be stored, by field; secrets are not filled in again. */
export type LoginErrors = Partial<Record<string, string>>

type Fields = { kept?: OwnerEntry['listed']; errors?: LoginErrors }

function errorAt(errors: LoginErrors, name: string) {
  const error = errors[name]
  return error === undefined ? {} : { error }
}

/** Renders the field for the user name. */
export function UsernameField({ value, errors = {} }: { value: string; errors?: LoginErrors }) {
  return (
    <Field
      name="username"
      label="User name or email address at the site"
      value={value}
      autocomplete="off"
      maxlength={usernameMax}
      {...errorAt(errors, 'username')}
    />
  )
}

/** Renders the fields for password and TOTP secret; `kept` is the entry that a form changes. */
export function SecretFields({ kept, errors = {} }: Fields) {
  return (
    <>
      <Field
        name="password"
        label="Password at the site"
        hint={
          kept?.has_password ? keeps : 'Leave empty if the site emails a code or a link instead.'
        }
        type="password"
        autocomplete="new-password"
        maxlength={secretMax}
        {...errorAt(errors, 'password')}
      />
      <Field
        name="totp_secret"
        label="Secret of the authenticator app, if there is one"
        hint={`The long text beside the QR code, or its otpauth:// address; not the six digits. ${kept?.has_totp ? keeps : ''}`}
        type="password"
        autocomplete="off"
        maxlength={secretMax}
        {...errorAt(errors, 'totp_secret')}
      />
      {kept?.has_totp && <Checkbox name="drop_totp" label="Remove the authenticator secret" />}
    </>
  )
}

/** Renders the fields for further secrets and notes. */
export function FurtherFields({ kept, errors = {} }: Fields) {
  return (
    <>
      <Area
        name="fields"
        label="Further secrets"
        hint={`One per line, such as pin: 4711. ${kept ? 'Secrets that you do not list stay. A name without a value removes that secret.' : ''}`}
        {...errorAt(errors, 'fields')}
      />
      <Area
        name="notes"
        label="Notes"
        hint={`For you. They are sealed too, and never sent to the site. ${kept ? keeps : ''}`}
        maxlength={notesMax}
        {...errorAt(errors, 'notes')}
      />
      {kept && <Checkbox name="drop_notes" label="Remove the notes" />}
    </>
  )
}

/** Returns a user name with hidden characters marked: anybody with a link may have chosen it. */
export function usernameShown({ username }: { username: string }): string {
  return markHidden(username)
}

type Which = { site: string; username: string; version?: number }

/** Reads the login for this site and user name, or refuses with the part that cannot be stored. */
export function typedLogin(
  form: URLSearchParams,
  which: Which,
): z.output<typeof storeRequest> | Refusal<'credential_refused'> {
  const text = (name: string) => form.get(name) ?? ''
  const fields = fieldsIn(text('fields'))
  const read = storeRequest.safeParse({
    ...which,
    ...part('password', text('password')),
    ...part('totp_secret', text('totp_secret').trim(), form.has('drop_totp')),
    ...part('notes', text('notes').replaceAll('\r\n', '\n'), form.has('drop_notes')),
    ...(Object.keys(fields).length === 0 ? {} : { fields }),
  })
  return read.success ? read.data : refusedAt(read.error.issues[0]?.path[0])
}

/** Refusals that the form itself can show; all others become a page of their own. */
const answered: readonly string[] = ['credential_refused', 'site_refused', 'conflict']

/** Stores what the owner typed, if the stored entry still has this version. */
export async function storeTyped(
  c: PageContext,
  credential: string,
  form: URLSearchParams,
  which: { site: string; username: string; version: number },
): Promise<StoredEntry | Refusal> {
  const entry = typedLogin(form, which)
  if (isRefusal(entry)) return entry
  const stored = await vaultOf(c).store({ credential, entry })
  if (isRefusal(stored) && !answered.includes(stored.refusal)) throw new Rejection(stored)
  return stored
}

function part(name: string, typed: string, isDropped = false): object {
  if (typed !== '') return { [name]: typed }
  return isDropped ? { [name]: null } : {}
}

/** Reads further secrets, one a line, as `name: value`; a name alone deletes the field. */
function fieldsIn(text: string): Record<string, string | null> {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '')
  return Object.fromEntries(
    lines.map((line) => {
      const [name = '', ...value] = line.split(':')
      return [name.trim(), value.join(':').trim() || null]
    }),
  )
}

const names: Readonly<Record<string, string>> = {
  site: 'the site',
  username: 'the user name',
  password: 'the password',
  totp_secret: 'the authenticator secret',
  fields: 'the further secrets, one per line as name: value',
  notes: 'the notes',
}

function refusedAt(part: PropertyKey | undefined): Refusal<'credential_refused'> {
  const name = names[String(part)] ?? 'what you entered'
  const message = `It is too long or cannot be read: ${name}.`
  return fail('credential_refused', {
    message,
    ...(part !== undefined && { details: { field: String(part) } }),
  })
}

/** Returns a refusal at the field that it is about. The vault tells of secrets in words alone. */
export function loginErrorsOf({ refusal, message, details }: Refusal): LoginErrors {
  const words = message ?? errorTable[refusal][1]
  if (refusal === 'site_refused') return { site: words }
  if (refusal === 'conflict') return { username: thereAlready }
  if (details) return { [String(details['field'])]: words }
  if (/^(The TOTP|The otpauth|Only otpauth)/.test(words)) return { totp_secret: words }
  return { [/20 fields/.test(words) ? 'fields' : 'password']: words }
}

const thereAlready =
  'The vault has a login of this user name at this site. Find it there and change it.'
