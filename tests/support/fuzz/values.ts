/**
 * Draws values for a JSON Schema from a seed: valid ones, edge cases and invalid ones. A field with a known
 * name mostly gets a meaningful value, so that requests pass the first checks.
 */
import fc from 'fast-check'
import * as z from 'zod'
import type { Random } from '../seed.ts'
import { hostileTexts, meaningful } from './texts.ts'

export type Schema = {
  type?: string | string[] | undefined
  const?: unknown
  enum?: unknown[] | undefined
  anyOf?: Schema[] | undefined
  properties?: Record<string, Schema> | undefined
  required?: string[] | undefined
  additionalProperties?: boolean | Schema | undefined
  items?: Schema | undefined
  pattern?: string | undefined
  format?: string | undefined
  minLength?: number | undefined
  maxLength?: number | undefined
  minItems?: number | undefined
  maxItems?: number | undefined
  minimum?: number | undefined
  maximum?: number | undefined
}

export const schema: z.ZodType<Schema> = z.lazy(() =>
  z.looseObject({
    type: z.union([z.string(), z.array(z.string())]).optional(),
    const: z.unknown().optional(),
    enum: z.array(z.unknown()).optional(),
    anyOf: z.array(schema).optional(),
    properties: z.record(z.string(), schema).optional(),
    required: z.array(z.string()).optional(),
    additionalProperties: z.union([z.boolean(), schema]).optional(),
    items: schema.optional(),
    pattern: z.string().optional(),
    format: z.string().optional(),
    minLength: z.number().optional(),
    maxLength: z.number().optional(),
    minItems: z.number().optional(),
    maxItems: z.number().optional(),
    minimum: z.number().optional(),
    maximum: z.number().optional(),
  }),
)

/** Randomness, and values from earlier answers and from the accounts. */
export type Source = {
  random: Random
  /** Returns a value for a field of this name that an answer has contained, such as an id. */
  seen(name: string): unknown
}

export function oneOf<Item>(random: Random, items: readonly [Item, ...Item[]]): Item
export function oneOf<Item>(random: Random, items: readonly Item[]): Item | undefined
export function oneOf<Item>(random: Random, items: readonly Item[]): Item | undefined {
  return items[random.between(0, items.length - 1)]
}

export function chance(random: Random, percent: number): boolean {
  return random.between(1, 100) <= percent
}

/** Returns a value that matches the schema, or nearly. */
function rightValue(of: Schema, name: string, source: Source): unknown {
  const { random } = source
  if (of.const !== undefined) return of.const
  if (of.enum) return oneOf(random, of.enum)
  if (of.anyOf) return rightValue(oneOf(random, of.anyOf) ?? {}, name, source)
  const seen = chance(random, 70) ? source.seen(name) : undefined
  if (seen !== undefined) return seen
  const known = meaningful[name]
  if (known && chance(random, 85)) return chance(random, 50) ? known[0] : oneOf(random, known)
  return ofType(of, name, source)
}

function ofType(of: Schema, name: string, source: Source): unknown {
  const { random } = source
  const type = Array.isArray(of.type) ? oneOf(random, of.type) : of.type
  switch (type) {
    case 'object':
      return rightObject(of, source)
    case 'array':
      return rightArray(of, name, source)
    case 'string':
      return rightText(of, random)
    case 'integer':
    case 'number':
      return random.between(of.minimum ?? 0, Math.min(of.maximum ?? 1e9, 1e9))
    case 'boolean':
      return chance(random, 50)
    case 'null':
      return null
    case undefined:
    default:
      return oneOf(random, anything)
  }
}

/** Returns an object with every required field and some of the others. */
export function rightObject(of: Schema, source: Source): Record<string, unknown> {
  const { random } = source
  const made: Record<string, unknown> = {}
  for (const [name, property] of Object.entries(of.properties ?? {})) {
    if (of.required?.includes(name) || chance(random, 25))
      made[name] = rightValue(property, name, source)
  }
  if (typeof of.additionalProperties === 'object') {
    for (let left = random.between(0, 2); left > 0; left -= 1) {
      const name = oneOf(random, ['accept', 'x-field', 'code', 'Recovery_1'] as const)
      made[name] = rightValue(of.additionalProperties, name, source)
    }
  }
  return made
}

function rightArray(of: Schema, name: string, source: Source): unknown[] {
  const least = of.minItems ?? 0
  const length = source.random.between(least, Math.min(of.maxItems ?? 4, least + 3))
  return Array.from({ length }, () => rightValue(of.items ?? {}, name, source))
}

/** Texts by the pattern that they match. */
const matching = new Map<string, readonly string[]>()

function rightText(of: Schema, random: Random): string {
  if (of.pattern !== undefined) return oneOf(random, matchesOf(of.pattern)) ?? ''
  const known = ofFormat[of.format ?? '']
  if (known) return oneOf(random, known)
  const least = of.minLength ?? 0
  const most = of.maxLength ?? 2_000
  const length = oneOf(random, [least, least + 1, Math.min(20, most), most] as const)
  return oneOf(random, ['a', 'é', '7', ' x', '字'] as const)
    .repeat(length)
    .slice(0, length)
}

const ofFormat: Record<string, readonly [string, ...string[]]> = {
  uuid: ['0f8fad5b-d9cb-469f-a165-70867728950e', '00000000-0000-0000-0000-000000000000'],
  email: ['someone@example.com', 'a+b@xn--bcher-kva.example', "o'neil@example.org"],
  uri: ['https://shop.example/back?a=b#c', 'urn:x', 'data:,x', 'https://[::1]/'],
  'date-time': [
    '2026-09-01T12:00:00Z',
    '2026-09-01T12:00:00.123456789+05:30',
    '0000-01-01T00:00:00Z',
    '9999-12-31T23:59:59-23:59',
    '2024-02-29T00:00:00Z',
    '2023-02-29T00:00:00Z',
    '1000-01-01T00:00:00+15:59',
  ],
}

function matchesOf(pattern: string): readonly string[] {
  const known = matching.get(pattern)
  if (known) return known
  const made = fc.sample(textsOf(pattern), { seed: 1, numRuns: 30 })
  matching.set(pattern, made)
  return made
}

/** Draws texts for a pattern. For a pattern that fast-check cannot read, it draws hostile texts. */
function textsOf(pattern: string): fc.Arbitrary<string> {
  try {
    return fc.stringMatching(new RegExp(pattern, 'u'))
  } catch {
    return fc.constantFrom('Ordinary words', 'a', ...hostileTexts)
  }
}

const anything = [null, true, 0, -1, '', 'text', [], {}, { a: { b: [1] } }, 1.5, [[[[]]]]] as const

/** Returns a value at the edge of what the schema allows, on either side of it. */
export function edgeValue(of: Schema, name: string, source: Source): unknown {
  const { random } = source
  const edges: unknown[] = []
  for (const length of [of.minLength, of.maxLength]) {
    if (length === undefined) continue
    edges.push(...[length - 1, length, length + 1].map((one) => 'a'.repeat(Math.max(0, one))))
  }
  for (const bound of [of.minimum, of.maximum]) {
    if (bound !== undefined) edges.push(bound - 1, bound, bound + 1, bound + 0.5)
  }
  for (const count of [of.minItems, of.maxItems]) {
    if (count === undefined) continue
    const item = rightValue(of.items ?? {}, name, source)
    edges.push(
      ...[count - 1, count, count + 1].map((one) =>
        Array.from({ length: Math.max(0, one) }, () => item),
      ),
    )
  }
  if (of.type === 'string') edges.push('', ' ', `${String(rightValue(of, name, source))} `)
  if (of.type === 'integer') edges.push(-0, 2 ** 53, -(2 ** 31), 1e308)
  return edges.length > 0 ? oneOf(random, edges) : rightValue(of, name, source)
}

/** Returns a value of any other kind. */
export function wrongValue(source: Source): unknown {
  const { random } = source
  return chance(random, 50) ? oneOf(random, hostileTexts) : oneOf(random, anything)
}
