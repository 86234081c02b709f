/**
 * Schemas of a contract in the form of an OpenAPI document. A pattern that repeats a format is left out,
 * and bounds that follow from a format are added. Answers stay open, because fields may be added to them.
 */
import * as z from 'zod'

type Schema = { [key: string]: unknown }

/** Maximum characters of a value of the format. */
const lengthsMax: Readonly<Record<string, number>> = { uuid: 36, 'date-time': 40 }

/** JSON integers are exact up to 53 bits (RFC 8259 section 6), so all of them fit 64. */
const integerFormat = 'int64'

const schema: z.ZodType<Schema> = z.record(z.string(), z.unknown())

/** Returns the schema of a request, strict as it is checked. */
export function requestForm(value: unknown): Schema {
  return schema.parse(reform(value, false))
}

/** Returns the schema of an answer. */
export function responseForm(value: unknown): Schema {
  return schema.parse(reform(value, true))
}

function reform(value: unknown, isOpen: boolean): unknown {
  if (Array.isArray(value)) return value.map((one) => reform(one, isOpen))
  if (!isSchema(value)) return value
  const kept = Object.entries(value)
    .filter(([key, held]) => !isLeftOut(value, key, held, isOpen))
    .map(([key, held]) => [key, reform(held, isOpen)])
  return { ...Object.fromEntries(kept), ...bounds(value) }
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null
}

function isLeftOut(owner: Schema, key: string, held: unknown, isOpen: boolean): boolean {
  if (key === 'pattern') return typeof owner['format'] === 'string'
  return key === 'additionalProperties' && isOpen && held === false
}

function bounds({ type, format, maxLength }: Schema): Schema {
  if (type === 'integer') return { format: integerFormat }
  const most = typeof format === 'string' ? lengthsMax[format] : undefined
  return type === 'string' && most !== undefined && maxLength === undefined
    ? { maxLength: most }
    : {}
}
