/**
 * One tool for each operation, made from its contract alone: the tool has the operation's name,
 * schemas, scope and gap. What a tool answers is what the operation answers.
 */
import type { StandardSchemaWithJSON, ToolAnnotations } from '@modelcontextprotocol/server'
import * as z from 'zod'
import { annotationsOf } from '../contract/annotations.ts'
import { contractDigest } from '../contract/digest.ts'
import { gaps } from '../contract/gaps.ts'
import type { ObjectSchema } from '../contract/json-schema.ts'
import { requestSchema, responseSchema } from '../contract/json-schema.ts'
import type { Operation } from '../contract/operation.ts'
import type { Access } from '../contract/scopes.ts'

/** A field by which a second call goes on with what the first one began. */
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
  /** Where the operation may wait for its owner: what it is gone on with. */
  continuing?: Continuing
}

/** The tools by name, in the order of the contracts. */
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

/** Shows the schema and checks nothing: the operation itself judges, and refuses in words that help. */
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

/** What a model must know of an operation before it calls it, beyond what it does. */
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
