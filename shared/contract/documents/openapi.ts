/**
 * The OpenAPI 3.1 description of every operation, made from the contracts alone. It describes plain HTTP;
 * authorization and MCP describe themselves.
 */
import * as z from 'zod'
import { fullResponseOf } from '../answered.ts'
import { type ErrorCode, errorTable } from '../errors.ts'
import type { Operation } from '../operation.ts'
import {
  authorizationOf,
  codesOf,
  gapStatusOf,
  groupOf,
  groups,
  type Service,
  serviceSummary,
  serviceTitle,
  serviceVersion,
} from './about.ts'

/** Returns the content of /openapi.json. */
export function openApiDocument(service: Service) {
  const { contracts, baseUrl, environment, gaps, digest } = service
  return {
    openapi: '3.1.0',
    info: {
      title: serviceTitle,
      version: serviceVersion,
      summary: serviceSummary,
      description: `The rules for agents are in the contract, ${baseUrl}/skill.md. This describes the calls.`,
      contact: { name: serviceTitle, url: `${baseUrl}/skill.md` },
      license: { name: 'Apache 2.0', identifier: 'Apache-2.0' },
    },
    'x-contract-digest': digest,
    'x-gaps': gaps,
    externalDocs: { url: `${baseUrl}/skill.md`, description: 'The contract for agents.' },
    servers: [{ url: baseUrl, description: `The ${environment} service.`, 'x-internal': false }],
    tags: groups.map(({ name, summary }) => ({ name, description: summary })),
    paths: pathsOf(contracts, gaps),
    components: {
      schemas: { Refusal: refusalSchema },
      responses: refusalComponents(contracts),
      parameters: headerParameters,
      headers: responseHeaders,
      securitySchemes: securitySchemes(service),
    },
  }
}

function pathsOf(contracts: readonly Operation[], gaps: Service['gaps']) {
  const paths: Record<string, Record<string, unknown>> = {}
  for (const contract of contracts) {
    const path = `/${contract.folder}`
    paths[path] = { ...paths[path], [contract.method.toLowerCase()]: describePath(contract, gaps) }
  }
  return paths
}

function describePath(contract: Operation, gaps: Service['gaps']) {
  const { id, summary, method, access, mutates, gap } = contract
  const headers = ['X-Device-Id', ...(mutates ? ['Idempotency-Key'] : [])]
  const parameters = [
    ...(method === 'GET' ? queryParameters(contract) : []),
    ...(access === 'public' ? [] : Object.values(reference('parameters', headers))),
  ]
  return {
    operationId: id,
    tags: [groupOf(contract).name],
    summary,
    description: `${summary} Scope: ${access}.`,
    'x-scope': access,
    ...(gap === undefined ? {} : { 'x-gap-id': gap, 'x-gap-status': gapStatusOf(contract, gaps) }),
    security: securityOf(access),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(method === 'POST' ? { requestBody: requestBody(contract) } : {}),
    responses: { 200: describeResponse(contract), ...refusalsOf(contract) },
  }
}

function securityOf(access: Operation['access']) {
  if (access === 'public') return []
  return [{ bearer: [] }, { oauth2: access === 'any' ? [] : [access] }]
}

function queryParameters(contract: Operation) {
  const { properties = {}, required = [] } = requestSchema(contract)
  return Object.entries(properties).map(([name, property]) => {
    const { description, ...schema } = requestForm(property)
    const isRequired = required.includes(name)
    return {
      name,
      in: 'query',
      required: isRequired,
      schema,
      ...(description ? { description } : {}),
    }
  })
}

/** Describes the body; it is optional if an empty object is a valid request. */
function requestBody(contract: Operation) {
  const schema = requestForm(requestSchema(contract))
  const required = !contract.request.safeParse({}).success
  return { required, content: { 'application/json': { schema } } }
}

function describeResponse(contract: Operation) {
  const schema = responseForm(responseSchema(contract))
  const content = { 'application/json': { schema } }
  return { description: 'It was done as described.', headers: fixedHeaders, content }
}

const headerParameters = {
  'Idempotency-Key': {
    name: 'Idempotency-Key',
    in: 'header',
    description: 'The same key and body get the same answer for 24 hours; another body is refused.',
    schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[\\x21-\\x7e]+$' },
  },
  'X-Device-Id': {
    name: 'X-Device-Id',
    in: 'header',
    description: 'Which device is asking; the user agent stands for it when absent.',
    schema: { type: 'string', maxLength: 512, pattern: '^[\\x20-\\x7e]*$' },
  },
}

const responseHeaders = {
  'X-Request-Id': {
    description: 'Names this request to the operator.',
    schema: { type: 'string', format: 'uuid', maxLength: 36 },
  },
  'X-Contract-Digest': {
    description: 'SHA-256 over the contracts: it changes when the interface does.',
    schema: { type: 'string', pattern: '^[0-9a-f]{64}$', maxLength: 64 },
  },
  'Retry-After': {
    description: 'Seconds to wait, where it helps to (RFC 9110 section 10.2.3).',
    schema: { type: 'integer', format: 'int64', minimum: 0, maximum: 86_400 },
  },
}

function securitySchemes(service: Service) {
  return {
    bearer: {
      type: 'http',
      scheme: 'bearer',
      description: `An API key that the owner made at ${service.webUrl}/keys, or an access token.`,
    },
    oauth2: {
      type: 'oauth2',
      description:
        'Access tokens are opaque and revocable at once; no JWT, so RFC8725 has nothing to say of them.',
      flows: { authorizationCode: authorizationOf(service) },
    },
  }
}

type Schema = { [key: string]: unknown }

/** Maximum characters of a value of the format. */
const lengthsMax: Readonly<Record<string, number>> = { uuid: 36, 'date-time': 40 }

/** JSON integers are exact up to 53 bits (RFC 8259 section 6), so all of them fit 64. */
const integerFormat = 'int64'

const schema: z.ZodType<Schema> = z.record(z.string(), z.unknown())

/** Returns the schema of a request, strict as it is checked. */
function requestForm(value: unknown): Schema {
  return schema.parse(reform(value, false))
}

/** Returns the schema of an answer. */
function responseForm(value: unknown): Schema {
  return schema.parse(reform(value, true))
}

function reform(value: unknown, isOpen: boolean): unknown {
  if (Array.isArray(value)) return value.map((one) => reform(one, isOpen))
  if (!isSchema(value)) return value
  const kept = Object.entries(value)
    .filter(([key, held]) => !isLeftOut(value, key, held, isOpen))
    .map(([key, held]) => [key, reform(held, isOpen)])
  return { ...Object.fromEntries(kept), ...bounds(value) }
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null
}

function isLeftOut(owner: Schema, key: string, held: unknown, isOpen: boolean): boolean {
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
const fixedHeaders = reference('headers', ['X-Request-Id', 'X-Contract-Digest'])

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
function refusalsOf(contract: Operation) {
  const statuses = [...codesByStatus(contract)]
  return Object.fromEntries(
    statuses.map(([status, codes]) => [
      status,
      { $ref: `#/components/responses/${componentName(codes)}` },
    ]),
  )
}

/** Returns every refusing response to which one of the operations refers. */
function refusalComponents(contracts: readonly Operation[]) {
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
function reference(kind: string, names: readonly string[]) {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/${kind}/${name}` }]))
}

/** A JSON Schema of an object, without `$schema`. */
export type ObjectSchema = {
  type: 'object'
  properties?: Record<string, unknown>
  required?: string[]
  [key: string]: unknown
}

/** Returns the schema of a request: query parameters of a GET, JSON body of a POST. */
export function requestSchema({ request }: Operation): ObjectSchema {
  return objectSchema(z.toJSONSchema(request, { io: 'input', override: withStandardFormats }))
}

/** Returns the schema of an answer with status 200. */
export function responseSchema(contract: Operation): ObjectSchema {
  return objectSchema(
    z.toJSONSchema(fullResponseOf(contract), { io: 'output', override: withStandardFormats }),
  )
}

/**
 * Removes the format `base64`: in JSON Schema it is an encoding (draft 2020-12, validation, section 8.3)
 * and not a format, and validators complain about unknown formats.
 */
function withStandardFormats({ jsonSchema }: { jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  if (jsonSchema.contentEncoding === jsonSchema.format) delete jsonSchema.format
}

const schemaOfObject = z.custom<ObjectSchema>(
  (schema) =>
    typeof schema === 'object' && schema !== null && 'type' in schema && schema.type === 'object',
  'an operation takes and answers an object',
)

function objectSchema(written: z.core.JSONSchema.BaseSchema): ObjectSchema {
  const { $schema: _, ...schema } = written
  return schemaOfObject.parse(schema)
}
