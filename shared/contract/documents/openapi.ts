/**
 * The OpenAPI 3.1 description of every operation, made from the contracts alone. It describes plain HTTP;
 * authorization and MCP describe themselves.
 */

import type { Operation } from '../operation.ts'
import {
  authorizationOf,
  gapStatusOf,
  groupOf,
  groups,
  type Service,
  serviceSummary,
  serviceTitle,
  serviceVersion,
} from './about.ts'
import { requestSchema, responseSchema } from './json-schema.ts'
import {
  fixedHeaders,
  reference,
  refusalComponents,
  refusalSchema,
  refusalsOf,
} from './openapi-refusals.ts'
import { requestForm, responseForm } from './openapi-schema.ts'

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
    paths[path] = { ...paths[path], [contract.method.toLowerCase()]: describe(contract, gaps) }
  }
  return paths
}

function describe(contract: Operation, gaps: Service['gaps']) {
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
