/**
 * The schemas of a contract as an OpenAPI document shows them. What a format says already is left
 * out, and what follows from one is added; answers stay open, for fields may be added to them.
 */
import * as z from 'zod'

type Schema = { [key: string]: unknown }

/** Characters that a value of the format has at most. */
const lengthsMax: Readonly<Record<string, number>> = { uuid: 36, 'date-time': 40 }

/** Integers of JSON are exact up to 53 bits (RFC 8259 section 6), so all of them fit 64. */
const integerFormat = 'int64'

const schema: z.ZodType<Schema> = z.record(z.string(), z.unknown())

/** A schema of what a caller sends: strict, as it is checked. */
export function requestForm(value: unknown): Schema {
  return schema.parse(reform(value, false))
}

/** A schema of what a caller is answered. */
export function responseForm(value: unknown): Schema {
  return schema.parse(reform(value, true))
}

function reform(value: unknown, isOpen: boolean): unknown {
  if (Array.isArray(value)) return value.map((one) => reform(one, isOpen))
  if (!isSchema(value)) return value
  const entries = Object.entries(value).filter(
    ([key, held]) => !isSaidTwice(value, key, held, isOpen),
  )
  return {
    ...Object.fromEntries(entries.map(([key, held]) => [key, reform(held, isOpen)])),
    ...bounds(value),
  }
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null
}

function isSaidTwice(owner: Schema, key: string, held: unknown, isOpen: boolean): boolean {
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
