/**
 * The operations as the OpenAPI document describes them: path, input, and for each status the schema that
 * its answers must match. This file uses no other knowledge of the product.
 */
import { Ajv2020 } from 'ajv/dist/2020.js'
import { fullFormats } from 'ajv-formats/dist/formats.js'
import * as z from 'zod'
import { contracts } from '../../../functions/contracts.ts'
import { documents } from '../../../functions/discovery/documents.ts'
import { discoveryFunction } from '../../../functions/discovery/serve.ts'
import type { World } from '../../../shared/world.ts'
import { type Schema, schema } from './values.ts'

export type Described = {
  id: string
  method: string
  path: string
  /** Schema of the query or of the body. */
  request: Schema
  /** Returns why no description matches an answer with this status and body, or undefined. */
  objection(status: number, body: unknown): string | undefined
}

const parameter = z.object({ name: z.string(), required: z.boolean(), in: z.string(), schema })
const operation = z.object({
  operationId: z.string(),
  // Headers appear only as references.
  parameters: z.array(z.union([parameter, z.object({ $ref: z.string() })])).default([]),
  requestBody: z
    .object({ content: z.object({ 'application/json': z.object({ schema }) }) })
    .optional(),
  responses: z.record(z.string(), z.object({ $ref: z.string().optional() })),
})
type DescribedOperation = z.output<typeof operation>
const document = z.looseObject({
  paths: z.record(z.string(), z.record(z.string(), operation)),
})

/** Reads the description that the service itself serves. */
export async function describedBy(world: World): Promise<[Described, ...Described[]]> {
  const discovery = discoveryFunction({ contracts, documents }, () => world)
  const answer = await discovery.fetch(new Request('http://aoa/openapi.json'))
  const served: unknown = await answer.json()
  const ajv = new Ajv2020({ strict: false, formats: fullFormats })
  ajv.addSchema(z.record(z.string(), z.unknown()).parse(served), 'openapi')
  const [first, ...others] = Object.entries(document.parse(served).paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, described]) => ({
      id: described.operationId,
      method: method.toUpperCase(),
      path,
      request: requestOf(described),
      objection: objectionOf(ajv, described, ['paths', path, method, 'responses']),
    })),
  )
  if (!first) throw new Error('the document describes no operation')
  return [first, ...others]
}

function requestOf({ parameters, requestBody }: DescribedOperation): Schema {
  if (requestBody) return requestBody.content['application/json'].schema
  const query = parameters.flatMap((one) => ('in' in one && one.in === 'query' ? [one] : []))
  return {
    type: 'object',
    properties: Object.fromEntries(query.map((one) => [one.name, one.schema])),
    required: query.filter((one) => one.required).map(({ name }) => name),
  }
}

function objectionOf(
  ajv: Ajv2020,
  { responses }: DescribedOperation,
  place: readonly string[],
): Described['objection'] {
  const checks = Object.entries(responses).map(([status, { $ref }]) => {
    const at = $ref ?? pointer([...place, status])
    return [status, ajv.compile({ $ref: `openapi${at}${pointer(jsonSchema).slice(1)}` })] as const
  })
  const byStatus = new Map(checks)
  return (status, body) => {
    const check = byStatus.get(String(status))
    if (!check) return `status ${status} is not described`
    return check(body) ? undefined : ajv.errorsText(check.errors)
  }
}

const jsonSchema = ['content', 'application/json', 'schema']

/** Returns a JSON pointer as a URI fragment (RFC 6901 section 6). */
function pointer(names: readonly string[]): string {
  const steps = names.map((name) => name.replaceAll('~', '~0').replaceAll('/', '~1'))
  return ['#', ...steps.map(encodeURIComponent)].join('/')
}
