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

/** Returns the component name of a definition in an operation's own schemas. */
const componentOf = (id: string, name: string) => `${id}.${name.replace(/^_+/, '')}`

/** Returns the schema of a request, strict as it is checked. */
export function requestForm(id: string, value: unknown): Schema {
  return schema.parse(reform(value, { id, isOpen: false }))
}

/** Returns the schema of an answer. */
export function responseForm(id: string, value: unknown): Schema {
  return schema.parse(reform(value, { id, isOpen: true }))
}

/** Returns the definitions of a recursive schema as components of the document. */
export function definitionsOf(id: string, request: Schema): Schema {
  const entries = Object.entries(schema.parse(request['$defs'] ?? {}))
  return Object.fromEntries(
    entries.map(([name, held]) => [componentOf(id, name), requestForm(id, held)]),
  )
}

type SchemaContext = { id: string; isOpen: boolean }

function reform(value: unknown, place: SchemaContext): unknown {
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

function refer(target: unknown, { id }: SchemaContext): string {
  return `#/components/schemas/${componentOf(id, String(target).replace('#/$defs/', ''))}`
}

function isLeftOut(owner: Schema, key: string, held: unknown, { isOpen }: SchemaContext): boolean {
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
