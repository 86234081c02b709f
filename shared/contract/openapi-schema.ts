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

/** Where the definitions of an operation's own schemas are in the document. */
const componentOf = (id: string, name: string) => `${id}.${name.replace(/^_+/, '')}`

/** A schema of what a caller sends: strict, as it is checked. */
export function requestForm(id: string, value: unknown): Schema {
  return schema.parse(reform(value, { id, isOpen: false }))
}

/** A schema of what a caller is answered. */
export function responseForm(id: string, value: unknown): Schema {
  return schema.parse(reform(value, { id, isOpen: true }))
}

/** What a schema defines for itself, which refers to itself, as components of the document. */
export function definitionsOf(id: string, request: Schema): Schema {
  const entries = Object.entries(schema.parse(request['$defs'] ?? {}))
  return Object.fromEntries(
    entries.map(([name, held]) => [componentOf(id, name), requestForm(id, held)]),
  )
}

type Place = { id: string; isOpen: boolean }

function reform(value: unknown, place: Place): unknown {
  if (Array.isArray(value)) return value.map((one) => reform(one, place))
  if (!isSchema(value)) return value
  const entries = Object.entries(value).filter(([key, held]) => !isLeftOut(value, key, held, place))
  const kept = entries.map(([key, held]) => [
    key,
    key === '$ref' ? refer(held, place) : reform(held, place),
  ])
  return { ...Object.fromEntries(kept), ...bounds(value) }
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null
}

function refer(target: unknown, { id }: Place): string {
  return `#/components/schemas/${componentOf(id, String(target).replace('#/$defs/', ''))}`
}

function isLeftOut(owner: Schema, key: string, held: unknown, { isOpen }: Place): boolean {
  if (key === '$defs') return true
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
