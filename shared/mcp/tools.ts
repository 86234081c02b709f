/**
 * One tool for each operation, made from its contract alone: it has the operation's name, schemas, scope
 * and gap. A tool answers what its operation answers.
 */
import type { StandardSchemaWithJSON, ToolAnnotations } from '@modelcontextprotocol/server'
import * as z from 'zod'
import { annotationsOf } from '../contract/annotations.ts'
import { contractDigest } from '../contract/digest.ts'
import { codesOf } from '../contract/documents/about.ts'
import type { ObjectSchema } from '../contract/documents/json-schema.ts'
import { requestSchema, responseSchema } from '../contract/documents/json-schema.ts'
import { gaps } from '../contract/gaps.ts'
import type { Operation } from '../contract/operation.ts'
import type { Access } from '../contract/scopes.ts'

/** Field with which a second call continues what the first one began. */
export type Continuing = 'transfer_id' | 'attempt_id'

type Described = StandardSchemaWithJSON<Record<string, unknown>>

/** A tool with the operation behind it. */
export type OperationTool = {
  contract: Operation
  config: {
    title: string
    description: string
    inputSchema: Described
    outputSchema: Described
    annotations: ToolAnnotations
    _meta: Record<string, string>
  }
  /** Field with which a call continues; only if the operation may wait for its owner. */
  continuing?: Continuing
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
    description: [contract.summary, ...conditionsOf(contract)].join(' '),
    inputSchema: described(request),
    outputSchema: described(response),
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
  return { contract, config, ...(waits && continuing ? { continuing } : {}) }
}

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

/** Returns what a model must know before it calls an operation, beyond its effect. */
function conditionsOf({ access, gap }: Operation): string[] {
  const maturity = gap
    ? [`${gap} is ${gaps[gap].best} at best: claim no more than the answer proves.`]
    : []
  return [scopeWords[access], ...maturity].filter((words) => words !== '')
}

const scopeWords: Record<Access, string> = {
  public: '',
  any: 'Needs a token of any scope.',
  read: 'Needs the scope read.',
  vault: 'Needs the scope vault.',
  pay: 'Needs the scope pay.',
  full: 'Needs the scope full.',
}
