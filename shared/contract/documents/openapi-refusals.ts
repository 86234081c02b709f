/**
 * Refusals of an operation as responses of an OpenAPI document: one for each status, with the codes it can
 * carry. Equal responses share one component.
 */

import { type ErrorCode, errorTable } from '../errors.ts'
import type { Operation } from '../operation.ts'
import { codesOf } from './about.ts'

/** Schema of every refusal's body, apart from the values of `error`. */
export const refusalSchema = {
  type: 'object',
  required: ['error', 'message', 'request_id'],
  properties: {
    error: { type: 'string', maxLength: 64, pattern: '^[a-z_]+$' },
    message: {
      type: 'string',
      maxLength: 4096,
      contentMediaType: 'text/plain',
      description: 'One sentence, safe to show.',
    },
    request_id: { type: 'string', format: 'uuid', maxLength: 36 },
    hint: {
      type: 'string',
      maxLength: 16_384,
      contentMediaType: 'text/plain',
      description: 'What to do next.',
    },
    retry_after_seconds: {
      type: 'integer',
      format: 'int64',
      minimum: 0,
      maximum: 86_400,
    },
    details: {
      type: 'object',
      additionalProperties: true,
      description: 'What helps to go on; its fields depend on the code.',
    },
  },
}

/** Headers of every response, as references to components. */
export const fixedHeaders = reference('headers', ['X-Request-Id', 'X-Contract-Digest'])

/** Maps each status to the operation's codes that have it. */
function codesByStatus(contract: Operation): Map<string, ErrorCode[]> {
  const statuses = new Map<string, ErrorCode[]>()
  for (const code of codesOf(contract)) {
    const status = String(errorTable[code][0])
    statuses.set(status, [...(statuses.get(status) ?? []), code])
  }
  return statuses
}

/** Returns the refusing responses of an operation, by status. */
export function refusalsOf(contract: Operation) {
  const statuses = [...codesByStatus(contract)]
  return Object.fromEntries(
    statuses.map(([status, codes]) => [
      status,
      { $ref: `#/components/responses/${componentName(codes)}` },
    ]),
  )
}

/** Returns every refusing response to which one of the operations refers. */
export function refusalComponents(contracts: readonly Operation[]) {
  const all = contracts.flatMap((contract) => [...codesByStatus(contract)])
  return Object.fromEntries(
    all.map(([status, codes]) => [componentName(codes), describeRefusal(status, codes)]),
  )
}

function describeRefusal(status: string, codes: readonly ErrorCode[]) {
  const retry = ['409', '429', '503'].includes(status)
  const headers = { ...fixedHeaders, ...(retry ? reference('headers', ['Retry-After']) : {}) }
  const schema = {
    allOf: [
      { $ref: '#/components/schemas/Refusal' },
      { type: 'object', properties: { error: { type: 'string', enum: codes } } },
    ],
  }
  const description = codes.map((code) => `\`${code}\`: ${errorTable[code][1]}`).join(' ')
  return { description, headers, content: { 'application/json': { schema } } }
}

/** Names a component; only letters, digits, dot, hyphen and underscore are allowed. */
function componentName(codes: readonly ErrorCode[]): string {
  return codes.join('.')
}

/** Returns references to components, by their names. */
export function reference(kind: string, names: readonly string[]) {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/${kind}/${name}` }]))
}
