/** Writes a JSON Schema as Python: answers become models, and objects within a request typed dictionaries. */
import { literal, pascal, type Schema } from './json-type.ts'

/** Classes of the answer or the request of an operation: their names by what they hold, inner ones first. */
export type Classes = { base: 'Model' | 'TypedDict'; names: Map<string, string> }

/** Declares a class and those of the objects in it. Returns the name of the class that has these fields. */
export function declareClass(name: string, schema: Schema, classes: Classes): string {
  const { base, names } = classes
  const { properties = {}, required = [] } = schema
  const rows = Object.entries(properties).map(([field, property]) => {
    const type = pythonType(property, `${name}${pascal(field)}`, classes)
    const absent = base === 'Model' ? `${withNone(type)} = None` : `NotRequired[${type}]`
    const key = base === 'Model' ? safeName(field) : field
    const whole = required.includes(field) ? type : absent
    return `    ${key}: ${whole}\n${docstring(property.description, '    ')}`
  })
  const body = `(${base}):\n${rows.join('') || '    pass\n'}`
  const declared = names.get(body)
  if (declared !== undefined) return declared
  if ([...names.values()].includes(name)) throw new Error(`two classes are called ${name}`)
  names.set(body, name)
  return name
}

/** Returns the type of a value; the classes of the objects in it begin with the name. */
export function pythonType(schema: Schema, name: string, classes: Classes): string {
  const inner = (one: Schema, called = name) => pythonType(one, called, classes)
  if ('const' in schema) return choiceOf([schema.const])
  if (schema.enum) return choiceOf(schema.enum)
  const choices = schema.anyOf ?? schema.oneOf
  if (choices) {
    const types = choices.map((one) => inner(one, `${name}${kindAmong(choices, one)}`))
    return [...new Set(types)].join(' | ')
  }
  const kinds = [schema.type ?? []].flat().map((kind) => {
    if (kind === 'array') {
      const item = name.replace(/ies$/, 'ys').replace(/(?<!s)s$/, '')
      return `list[${inner(schema.items ?? {}, item)}]`
    }
    if (kind !== 'object') return plainTypes[kind]
    if (schema.properties) return declareClass(name, schema, classes)
    const { additionalProperties: others } = schema
    return `dict[str, ${typeof others === 'object' ? inner(others) : 'Any'}]`
  })
  return kinds.join(' | ') || 'Any'
}

/** Returns what tells an object from the others of a union: its constant field, or its number. */
function kindAmong(choices: readonly Schema[], { properties = {} }: Schema): string {
  const objects = choices.flatMap((one) => one.properties ?? [])
  if (objects.length < 2) return ''
  const constant = Object.values(properties).find((one) => 'const' in one)
  return constant ? pascal(String(constant.const)) : String(objects.indexOf(properties) + 1)
}

const plainTypes = {
  string: 'str',
  integer: 'int',
  number: 'float',
  boolean: 'bool',
  null: 'None',
} as const

/** Returns the Literal of these values. */
export function choiceOf(values: readonly unknown[]): string {
  return `Literal[${values.map(pythonLiteral).join(', ')}]`
}

/** Returns a string, number, boolean or null as Python source. */
export function pythonLiteral(value: unknown): string {
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  return value === null ? 'None' : literal(value)
}

/** Returns the type with None, which stands for an absent field. */
export function withNone(type: string): string {
  return `${type.replace(/ \| None$/, '')} | None`
}

/** Returns the docstring of a field; nothing without a text. */
export function docstring(text: string | undefined, indent: string): string {
  if (text === undefined) return ''
  return `${indent}"""${text.replaceAll('\\', '\\\\').replace(/"$/, '\\"')}"""\n`
}

/** Returns a name that Python takes: `from` is one of its words. */
export function safeName(name: string): string {
  return keywords.includes(name) ? `${name}_` : name
}

const keywords: readonly string[] = (
  'and as assert async await break class continue def del elif else except finally for from global ' +
  'if import in is lambda nonlocal not or pass raise return try while with yield'
).split(' ')
