/**
 * One tool for each operation, made from its contract alone: it has the operation's name, schemas, scope
 * and gap. A tool answers what its operation answers.
 */
import type { StandardSchemaWithJSON, Tool, ToolAnnotations } from '@modelcontextprotocol/server'
import * as z from 'zod'
import { annotationsOf } from '../contract/annotations.ts'
import { contractDigest } from '../contract/digest.ts'
import { codesOf, isForModels } from '../contract/documents/about.ts'
import { type ObjectSchema, requestSchema, responseSchema } from '../contract/documents/openapi.ts'
import type { Operation } from '../contract/operation.ts'
import { coversAccess } from '../contract/scopes.ts'

/** Field with which a second call continues what the first one began. */
export type Continuing = 'transfer_id' | 'attempt_id'

type Described = StandardSchemaWithJSON<Record<string, unknown>>

/** A tool with the operation behind it. */
export type OperationTool = {
  contract: Operation
  config: Config & { inputSchema: Described; outputSchema: Described }
  /** The tool as a list shows it. */
  listed: Tool
  /** True if it takes the argument `idempotency_key`, which becomes the header Idempotency-Key. */
  isKeyed: boolean
  /** Field with which a call continues; only if the operation may wait for its owner. */
  continuing?: Continuing
}

type Config = {
  title: string
  description: string
  annotations: ToolAnnotations
  _meta: Record<string, string>
}

/** Returns the tools by name, in the order of the contracts. */
export function toolsOf(contracts: readonly Operation[]): ReadonlyMap<string, OperationTool> {
  return new Map(contracts.map((contract) => [contract.id, toolOf(contract)]))
}

function toolOf(contract: Operation): OperationTool {
  const [request, response] = [requestSchema(contract), responseSchema(contract)]
  const { title, ...annotations } = annotationsOf(contract)
  const config = {
    title,
    description: contract.summary,
    annotations,
    _meta: {
      scope: contract.access,
      contract_digest: contractDigest,
      errors: codesOf(contract).join(' '),
      ...(contract.gap ? { gap_id: contract.gap } : {}),
    },
  }
  const taken = Object.keys(request.properties ?? {})
  const answered = Object.keys(response.properties ?? {})
  const continuing = (['transfer_id', 'attempt_id'] as const).find(
    (field) => taken.includes(field) && answered.includes(field),
  )
  const waits = answered.includes('confirmation')
  const isKeyed = contract.mutates === true && contract.access === 'pay'
  const inputSchema = isKeyed ? withKey(shortSchema(request)) : shortSchema(request)
  return {
    contract,
    isKeyed,
    config: { ...config, inputSchema: described(inputSchema), outputSchema: described(response) },
    listed: listedTool.parse({
      name: contract.id,
      ...config,
      inputSchema,
      outputSchema: response,
    }),
    ...(waits && continuing ? { continuing } : {}),
  }
}

function withKey(schema: ObjectSchema): ObjectSchema {
  return { ...schema, properties: { ...schema.properties, idempotency_key: keyArgument } }
}

const keyArgument = {
  type: 'string',
  description: 'A random value; the same one in a repeat of this call.',
}

/**
 * Returns the tools that a caller with these scopes can use, as a list shows them. The list leaves out
 * what no model with an account needs.
 */
export function listedTools(tools: ReadonlyMap<string, OperationTool>, held: readonly string[]) {
  return [...tools.values()]
    .filter(({ contract }) => isForModels(contract))
    .filter(({ contract }) => coversAccess(held, contract.access))
    .map(({ listed }) => listed)
}

/** The SDK names the type of a schema's every value; ours come from the contracts. */
const listedTool = z.custom<Tool>((tool) => typeof tool === 'object')
const anyObject = z.record(z.string(), z.unknown())

/** Shows a schema without validating: the operation itself checks the input, with better messages. */
function described(schema: ObjectSchema): Described {
  return {
    '~standard': {
      version: 1,
      vendor: 'aoa',
      validate: (value) => ({ value: anyObject.parse(value ?? {}) }),
      jsonSchema: { input: () => schema, output: () => schema },
    },
  }
}

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
function shortSchema(schema: ObjectSchema): ObjectSchema {
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
