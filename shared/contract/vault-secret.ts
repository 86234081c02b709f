/** The secret part of a vault entry, in its form on the wire and in its sealed form. */
import * as z from 'zod'
import * as form from './forms.ts'

const fieldsMax = 20

/** Builds a text that survives encoding to UTF-8 and back. */
function text(charactersMax: number) {
  return form
    .words(charactersMax)
    .min(1)
    .refine((value) => value.isWellFormed(), { message: 'must be well-formed Unicode' })
}

function fieldsOf<Value extends z.ZodType>(value: Value) {
  return z
    .record(
      z
        .string()
        .max(64)
        .regex(/^[A-Za-z][A-Za-z0-9_-]{0,63}$/),
      value,
    )
    .refine((fields) => Object.keys(fields).length <= fieldsMax, `at most ${fieldsMax} fields`)
}

const password = text(1024)
const notes = text(4096)
const fieldValue = text(1024)

/** Parts of a secret that are sealed as given. */
export const sealedFields = {
  password: password.optional(),
  notes: notes.optional(),
  fields: fieldsOf(fieldValue).optional(),
}

const keeps = 'Absent: stays; null: removed.'

/** Fields of a change to the secret part. */
export const secretChange = {
  password: password.optional().describe('Absent: stays.'),
  totp_secret: text(1024)
    .nullable()
    .optional()
    .describe(`An otpauth:// address or base32 secret. ${keeps}`),
  notes: notes.nullable().optional().describe(`For people, never listed. ${keeps}`),
  fields: fieldsOf(fieldValue.nullable())
    .optional()
    .describe(`Further secrets; their names are listed. ${keeps}`),
}
