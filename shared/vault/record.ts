/**
 * The secret part of an entry: what is sealed, in one place, so that nothing of it is ever kept
 * elsewhere. Site and user name are not in it, because they are listed.
 */
import * as z from 'zod'
import { readTotp, totpCode, totpSchema } from './totp.ts'

const sealedBytesMax = 32_768
const fieldsMax = 20

/** Text that comes back from UTF-8 as it was. */
function text(charactersMax: number) {
  return z
    .string()
    .min(1)
    .max(charactersMax)
    .refine((value) => value.isWellFormed(), {
      message: 'must be well-formed Unicode',
    })
}

const fieldName = z.string().regex(/^[A-Za-z][A-Za-z0-9_-]{0,63}$/)

const plainFields = {
  password: text(1024).optional(),
  notes: text(4096).optional(),
  fields: z
    .record(fieldName, text(1024))
    .refine((fields) => Object.keys(fields).length <= fieldsMax, `at most ${fieldsMax} fields`)
    .optional(),
}

/** The secret part as it is asked for on the wire. */
export const secretInput = z.strictObject({
  ...plainFields,
  totp_secret: text(1024).optional().describe('An otpauth:// address, or the secret in base32.'),
})

const secretSchema = z.strictObject({ ...plainFields, totp: totpSchema.optional() })

/** The secret part as it is sealed. */
export type Secret = z.output<typeof secretSchema>

/** Makes the secret part of what was given, or says in a sentence what is wrong with it. */
export function secretOf(input: z.output<typeof secretInput>): Secret | { refused: string } {
  const { totp_secret, ...others } = input
  const totp = totp_secret === undefined ? undefined : readTotp(totp_secret)
  if (totp !== undefined && 'refused' in totp) return totp
  const secret = { ...others, ...(totp === undefined ? {} : { totp }) }
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
 * this moment (milliseconds of the epoch), and `fields.NAME`. Notes and the seed are not among them.
 */
export function usableValues(secret: Secret, nowMilliseconds: number): ReadonlyMap<string, string> {
  const values = new Map<string, string>()
  if (secret.password !== undefined) values.set('password', secret.password)
  if (secret.totp !== undefined) values.set('totp', totpCode(secret.totp, nowMilliseconds).code)
  for (const [name, value] of Object.entries(secret.fields ?? {})) {
    values.set(`fields.${name}`, value)
  }
  return values
}
