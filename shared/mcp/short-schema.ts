/**
 * Input schemas for the list of tools, which a model reads with every conversation. They leave out what only
 * restricts the form of a value: the operation checks it, and refuses it with a sentence that says more.
 */
import type { ObjectSchema } from '../contract/documents/json-schema.ts'

const formKeywords = new Set([
  'pattern',
  'allOf',
  'format',
  'contentMediaType',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'propertyNames',
])

type Schema = { [key: string]: unknown }

/** Returns a request's schema without the keywords of form; only at its top it tells that it is strict. */
export function shortSchema(schema: ObjectSchema): ObjectSchema {
  const { additionalProperties } = schema
  return { ...shortened(schema), type: 'object', additionalProperties }
}

function shortened(schema: Schema): Schema {
  const kept = Object.entries(schema).filter(
    ([keyword, value]) =>
      !formKeywords.has(keyword) && value !== false && value !== Number.MAX_SAFE_INTEGER,
  )
  return Object.fromEntries(kept.map(([keyword, value]) => [keyword, shortValue(keyword, value)]))
}

function shortValue(keyword: string, value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.map((one: unknown) => (isSchema(one) ? shortened(one) : one))
  }
  if (!isSchema(value)) return value
  if (keyword !== 'properties') return shortened(value)
  const fields = Object.entries(value)
  return Object.fromEntries(
    fields.map(([name, field]) => [name, isSchema(field) ? shortened(field) : field]),
  )
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null
}
