/** Writes a JSON Schema as a TypeScript type, for the parts of the language that contracts use. */
import * as z from 'zod'

const kind = z.enum(['object', 'array', 'string', 'integer', 'number', 'boolean', 'null'])
type Kind = z.output<typeof kind>

/** The part of a JSON Schema that a type depends on. */
export type Schema = {
  const?: unknown
  enum?: unknown[] | undefined
  anyOf?: Schema[] | undefined
  oneOf?: Schema[] | undefined
  type?: Kind | Kind[] | undefined
  properties?: Record<string, Schema> | undefined
  required?: string[] | undefined
  additionalProperties?: boolean | Schema | undefined
  items?: Schema | undefined
  description?: string | undefined
}

// Strict, so that a keyword that is new in a contract must be added here before a type is made without it.
const schemaForm: z.ZodType<Schema> = z.lazy(() => z.strictObject(keywords))

const keywords = {
  const: z.unknown().optional(),
  enum: z.array(z.unknown()).optional(),
  anyOf: z.array(schemaForm).optional(),
  oneOf: z.array(schemaForm).optional(),
  type: z.union([kind, z.array(kind)]).optional(),
  properties: z.record(z.string(), schemaForm).optional(),
  required: z.array(z.string()).optional(),
  additionalProperties: z.union([z.boolean(), schemaForm]).optional(),
  items: schemaForm.optional(),
  description: z.string().optional(),
  // Several patterns for one string.
  allOf: z.array(z.strictObject({ pattern: z.string() })).optional(),
  // Keywords that a type cannot express. The service checks them, and its refusal names the field.
  ...Object.fromEntries(
    [
      'format',
      'pattern',
      'minLength',
      'maxLength',
      'minimum',
      'maximum',
      'exclusiveMinimum',
      'exclusiveMaximum',
      'minItems',
      'maxItems',
      'propertyNames',
      'contentEncoding',
      'contentMediaType',
    ].map((name) => [name, z.unknown().optional()]),
  ),
}

/** Reads a schema. Throws for a keyword that is not known here. */
export function readSchema(value: object): Schema {
  return schemaForm.parse(value)
}

/** Returns words as one word with capitals: `get_identity` becomes `GetIdentity`. */
export function pascal(name: string): string {
  return name.replace(/(?:^|_)([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())
}

/** Settings for writing one type. */
export type Writing = {
  /** Name of the type that is declared. */
  name: string
  /** True if a caller may write `undefined` instead of leaving a field out. */
  takesUndefined: boolean
}

/** Returns the declaration of the type. */
export function declareType(value: object, writing: Writing): string {
  return `export type ${writing.name} = ${typeOf(readSchema(value), writing, '')}\n`
}

/** Returns the lines of a doc comment. */
export function docComment(text: string | undefined, indent = ''): string {
  return text === undefined ? '' : `${indent}/** ${text.replaceAll('*/', '* /')} */\n`
}

/** Returns a JSON value as TypeScript source. */
export function literal(value: unknown): string {
  const text = JSON.stringify(value)
  return typeof value === 'string' && !/['\\\\]/.test(text) ? `'${text.slice(1, -1)}'` : text
}

function typeOf(schema: Schema, writing: Writing, indent: string): string {
  const inner = (one: Schema) => typeOf(one, writing, indent)
  if ('const' in schema) return literal(schema.const)
  if (schema.enum) return schema.enum.map(literal).join(' | ')
  const choices = schema.anyOf ?? schema.oneOf
  if (choices) return [...new Set(choices.map(inner))].join(' | ')
  const ofKind = (one: Kind) => {
    if (one === 'array') return `Array<${inner(schema.items ?? {})}>`
    if (one === 'object') return objectType(schema, writing, indent)
    return one === 'integer' ? 'number' : one
  }
  return schema.type === undefined ? 'unknown' : [schema.type].flat().map(ofKind).join(' | ')
}

function objectType(schema: Schema, writing: Writing, indent: string): string {
  const { properties = {}, required = [], additionalProperties: others = false } = schema
  const names = Object.keys(properties)
  const other = typeof others === 'object' ? typeOf(others, writing, indent) : 'unknown'
  if (names.length === 0) return `{ [name: string]: ${others === false ? 'never' : other} }`
  const within = `${indent}  `
  const lines = Object.entries(properties).map(([name, property]) => {
    const isGiven = required.includes(name)
    const type = typeOf(property, writing, within)
    const mayBeUndefined = !isGiven && writing.takesUndefined && type !== 'unknown'
    const whole = mayBeUndefined ? `${type} | undefined` : type
    const field = `${within}${name}${isGiven ? '' : '?'}: ${whole}\n`
    return `${docComment(property.description, within)}${field}`
  })
  if (others !== false) lines.push(`${within}[name: string]: ${other}\n`)
  return `{\n${lines.join('')}${indent}}`
}
