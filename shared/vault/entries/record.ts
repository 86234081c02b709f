/**
 * The secret part of an entry, which is sealed as one record, so that no part of it is stored elsewhere.
 * Site and user name are not in it, because they are listed.
 */
import * as z from 'zod'
import { sealedFields, secretChange } from '../../contract/vault-secret.ts'
import { readTotp, totpCode, totpSchema } from './totp.ts'

const sealedBytesMax = 32_768
/** Number of earlier passwords kept: a site that missed a change still expects an earlier one. */
const previousMax = 3

/** Schema of the secret part in a request. */
export const secretInput = z.strictObject(secretChange)

const nothingToUse =
  'Give a user name, a password, a TOTP secret or a field: there is nothing to use.'

const secretSchema = z.strictObject({
  ...sealedFields,
  previous_passwords: z.array(z.string()).max(previousMax).optional(),
  totp: totpSchema.optional(),
})

/** The secret part as it is sealed. */
export type Secret = z.output<typeof secretSchema>

/**
 * Applies a change to a secret part, or returns a sentence that says what is wrong with it. Absent
 * members stay, null removes them, and a given password discards all earlier ones. Without a secret, the site
 * mails a code or a link to the user name.
 */
export function secretOf(
  { password, totp_secret, notes, fields }: z.output<typeof secretInput>,
  present: Secret = {},
  username = '',
): Secret | { refused: string } {
  const totp = typeof totp_secret === 'string' ? readTotp(totp_secret) : totp_secret
  if (totp && 'refused' in totp) return totp
  const secret = checkSecret({
    ...(password === undefined ? present : { ...present, previous_passwords: null, password }),
    ...(totp === undefined ? {} : { totp }),
    ...(notes === undefined ? {} : { notes }),
    fields: { ...present.fields, ...fields },
  })
  const isEmpty = username === '' && !('refused' in secret) && usableValues(secret, 0).size === 0
  return isEmpty ? { refused: nothingToUse } : secret
}

/** Returns the secret part with a new password. Earlier ones stay, since the site may still know one. */
export function withNewPassword(present: Secret, password: string): Secret | { refused: string } {
  const { password: last, previous_passwords: earlier = [] } = present
  const previous = last === undefined ? earlier : [last, ...earlier].slice(0, previousMax)
  return checkSecret({ ...present, password, previous_passwords: previous })
}

type Given = Record<string, unknown> & { fields?: Record<string, string | null> | undefined }

function checkSecret({ fields = {}, ...others }: Given): Secret | { refused: string } {
  const kept = Object.entries(fields).filter(([, value]) => value !== null)
  const isThere = ([, value]: [string, unknown]) => value !== null && value !== undefined
  const read = secretSchema.safeParse({
    ...Object.fromEntries(Object.entries(others).filter(isThere)),
    ...(kept.length === 0 ? {} : { fields: Object.fromEntries(kept) }),
  })
  if (!read.success) return { refused: 'The entry would have more than 20 fields.' }
  const secret = read.data
  if (encodeSecret(secret).length > sealedBytesMax) {
    return { refused: `The secret part is longer than ${sealedBytesMax} bytes.` }
  }
  return secret
}

/** Encodes the secret part into the bytes to seal. */
export function encodeSecret(secret: Secret): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(secret))
}

/** Reads opened bytes; throws, without repeating them, if they are not a secret part. */
export function decodeSecret(bytes: Uint8Array): Secret {
  try {
    return secretSchema.parse(JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)))
  } catch {
    throw new Error('an opened record is no secret part of an entry')
  }
}

/**
 * Returns the values that a request may carry, by their names in templates: `password`, `totp` for the
 * current code (milliseconds of the epoch), `fields.NAME`, and `previous_password`, `previous_password_2` and
 * `_3`. Notes and the TOTP seed are not among them.
 */
export function usableValues(secret: Secret, nowMilliseconds: number): ReadonlyMap<string, string> {
  const values = new Map<string, string>()
  if (secret.password !== undefined) values.set('password', secret.password)
  if (secret.totp !== undefined) values.set('totp', totpCode(secret.totp, nowMilliseconds).code)
  for (const [name, value] of Object.entries(secret.fields ?? {})) {
    values.set(`fields.${name}`, value)
  }
  for (const [at, previous] of (secret.previous_passwords ?? []).entries()) {
    values.set(at === 0 ? 'previous_password' : `previous_password_${at + 1}`, previous)
  }
  return values
}

/** Returns the facts of a secret part that are listed, and so stored in the clear. */
export function listedParts(secret: Secret) {
  return {
    has_password: secret.password !== undefined,
    has_totp: secret.totp !== undefined,
    field_names: Object.keys(secret.fields ?? {}),
  }
}
