/**
 * The secret part of an entry: what is sealed, in one place, so that nothing of it is ever kept
 * elsewhere. Site and user name are not in it, because they are listed.
 */
import * as z from 'zod'
import { sealedFields, secretChange } from '../contract/vault-secret.ts'
import { readTotp, totpCode, totpSchema } from './totp.ts'

const sealedBytesMax = 32_768
/** A site that was not told of a new password still wants an earlier one. */
const previousMax = 3

/** The secret part as it is asked for on the wire. */
export const secretInput = z.strictObject(secretChange)

const noOthers = { previous_passwords: null, new_password: null }

const secretSchema = z.strictObject({
  ...sealedFields,
  previous_passwords: z.array(z.string()).max(previousMax).optional(),
  /** Sent to the site as the next one; nobody knows yet whether it was taken. */
  new_password: z.string().optional(),
  totp: totpSchema.optional(),
})

/** The secret part as it is sealed. */
export type Secret = z.output<typeof secretSchema>

/**
 * What becomes of a secret part by what was given, or a sentence what is wrong with that. What is
 * not given stays, null takes it away; a password that is given ends what was there before it.
 */
export function secretOf(
  { password, totp_secret, notes, fields }: z.output<typeof secretInput>,
  present: Secret = {},
): Secret | { refused: string } {
  const totp = typeof totp_secret === 'string' ? readTotp(totp_secret) : totp_secret
  if (totp && 'refused' in totp) return totp
  return checked({
    ...(password === undefined ? present : { ...present, ...noOthers, password }),
    ...(totp === undefined ? {} : { totp }),
    ...(notes === undefined ? {} : { notes }),
    fields: { ...present.fields, ...fields },
  })
}

/** The secret part with a new password; the ones before it stay, of which the site may know one. */
export function withNewPassword(present: Secret, password: string): Secret | { refused: string } {
  const { password: last, previous_passwords: earlier = [] } = present
  const previous = last === undefined ? earlier : [last, ...earlier].slice(0, previousMax)
  return checked({ ...present, password, previous_passwords: previous })
}

/** The secret part while a site is asked to take another password; of one before it, too, nobody knows. */
export function withAskedPassword(present: Secret, asked: string): Secret | { refused: string } {
  const { new_password: open, previous_passwords: earlier = [] } = present
  const previous = open === undefined ? earlier : [open, ...earlier].slice(0, previousMax)
  return checked({ ...present, new_password: asked, previous_passwords: previous })
}

/** The secret part once the site took the password, or did not. */
export function withAnsweredPassword(
  present: Secret,
  asked: string,
  isTaken: boolean,
): Secret | { refused: string } {
  const { new_password: open, ...others } = present
  const kept = open === asked || open === undefined ? others : present
  return isTaken && present.password !== asked ? withNewPassword(kept, asked) : checked(kept)
}

type Given = Record<string, unknown> & { fields?: Record<string, string | null> | undefined }

function checked({ fields = {}, ...others }: Given): Secret | { refused: string } {
  const kept = Object.entries(fields).filter(([, value]) => value !== null)
  const isThere = ([, value]: [string, unknown]) => value !== null && value !== undefined
  const read = secretSchema.safeParse({
    ...Object.fromEntries(Object.entries(others).filter(isThere)),
    ...(kept.length === 0 ? {} : { fields: Object.fromEntries(kept) }),
  })
  if (!read.success) return { refused: 'The entry would have more than 20 fields.' }
  const secret = read.data
  if (usableValues(secret, 0).size === 0) {
    return { refused: 'Give a password, a TOTP secret or a field: there is nothing to use.' }
  }
  if (encodeSecret(secret).length > sealedBytesMax) {
    return { refused: `The secret part is longer than ${sealedBytesMax} bytes.` }
  }
  return secret
}

/** The bytes to seal. */
export function encodeSecret(secret: Secret): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(secret))
}

/** Reads opened bytes; throws, without repeating them, when they are no secret part. */
export function decodeSecret(bytes: Uint8Array): Secret {
  try {
    return secretSchema.parse(JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)))
  } catch {
    throw new Error('an opened record is no secret part of an entry')
  }
}

/**
 * What a request may carry, by the names that a template uses: `password`, `totp` for the code of
 * this moment (milliseconds of the epoch), `fields.NAME`, `new_password` while nobody knows whether the
 * site took it, and `previous_password`, of which there are `previous_password_2` and `_3`. Notes and the
 * seed are not among them.
 */
export function usableValues(secret: Secret, nowMilliseconds: number): ReadonlyMap<string, string> {
  const values = new Map<string, string>()
  if (secret.password !== undefined) values.set('password', secret.password)
  if (secret.totp !== undefined) values.set('totp', totpCode(secret.totp, nowMilliseconds).code)
  for (const [name, value] of Object.entries(secret.fields ?? {})) {
    values.set(`fields.${name}`, value)
  }
  if (secret.new_password !== undefined) values.set('new_password', secret.new_password)
  for (const [at, previous] of (secret.previous_passwords ?? []).entries()) {
    values.set(at === 0 ? 'previous_password' : `previous_password_${at + 1}`, previous)
  }
  return values
}

/** What is listed of a secret part, and for that is told to the database. */
export function listedParts(secret: Secret) {
  return {
    has_password: secret.password !== undefined,
    has_totp: secret.totp !== undefined,
    field_names: Object.keys(secret.fields ?? {}),
  }
}
