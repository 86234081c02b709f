/**
 * One tool for each operation, made from its contract alone: the tool has the operation's name,
 * schemas, scope and gap. What a tool answers is what the operation answers.
 */
import type { Tool } from '@modelcontextprotocol/server'
import * as z from 'zod'
import { annotationsOf } from '../contract/annotations.ts'
import { contractDigest } from '../contract/digest.ts'
import { gaps } from '../contract/gaps.ts'
import { requestSchema, responseSchema } from '../contract/json-schema.ts'
import type { Operation } from '../contract/operation.ts'
import type { Access } from '../contract/scopes.ts'

/** A field by which a second call goes on with what the first one began. */
export type Continuing = 'transfer_id' | 'attempt_id'

/** A tool with the operation behind it. */
export type OperationTool = {
  contract: Operation
  tool: Tool
  /** Where the operation may wait for its owner: what it is gone on with. */
  continuing?: Continuing
}

const json = z
  .object({
    type: z.literal('object'),
    properties: z.record(z.string(), z.json()).optional(),
    required: z.array(z.string()).optional(),
  })
  .catchall(z.json())

/** The tools by name, in the order of the contracts. */
export function toolsOf(contracts: readonly Operation[]): ReadonlyMap<string, OperationTool> {
  return new Map(contracts.map((contract) => [contract.id, toolOf(contract)]))
}

function toolOf(contract: Operation): OperationTool {
  const inputSchema = requestSchema(contract)
  const outputSchema = responseSchema(contract)
  const { title, ...annotations } = annotationsOf(contract)
  const tool: Tool = {
    name: contract.id,
    title,
    description: [contract.summary, ...conditionsOf(contract)].join(' '),
    inputSchema: json.parse(inputSchema),
    outputSchema: json.parse(outputSchema),
    annotations: { title, ...annotations },
    _meta: {
      scope: contract.access,
      contract_digest: contractDigest,
      ...(contract.gap ? { gap_id: contract.gap } : {}),
    },
  }
  const taken = Object.keys(inputSchema.properties ?? {})
  const answered = Object.keys(outputSchema.properties ?? {})
  const continuing = (['transfer_id', 'attempt_id'] as const).find(
    (field) => taken.includes(field) && answered.includes(field),
  )
  const waits = answered.includes('confirmation')
  return { contract, tool, ...(waits && continuing ? { continuing } : {}) }
}

/** What a model must know of an operation before it calls it, beyond what it does. */
function conditionsOf({ access, gap }: Operation): string[] {
  const maturity = gap ? [`${gap} is ${gaps[gap]}: claim no more than the answer proves.`] : []
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
