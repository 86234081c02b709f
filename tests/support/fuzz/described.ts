/**
 * The operations as the OpenAPI document describes them: where each is, what it takes, and for each
 * status the schema that its answers have to match. Nothing else is known of the product here.
 */
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import * as z from 'zod'
import type { Schema } from './values.ts'
import { schema } from './values.ts'

export type Described = {
  id: string
  method: string
  path: string
  /** Of the query or of the body. */
  request: Schema
  /** Why an answer with this status and body is none that is described; undefined where it is. */
  objection(status: number, body: unknown): string | undefined
}

const content = z.object({ 'application/json': z.object({ schema: z.unknown() }) })
const parameter = z.object({
  in: z.string(),
  name: z.string(),
  required: z.boolean().optional(),
  schema,
})
const operation = z.object({
  operationId: z.string(),
  parameters: z.array(parameter).default([]),
  requestBody: z.object({ content }).optional(),
  responses: z.record(z.string(), z.object({ content })),
})
const methods = z.partialRecord(z.enum(['get', 'post']), operation)
export const openApiDocument = z.looseObject({ paths: z.record(z.string(), methods) })

/** Reads a document in which every schema stands where it is used. */
export function describedBy(given: unknown): [Described, ...Described[]] {
  const ajv = new Ajv2020({ strict: false })
  addFormats.default(ajv)
  const { paths } = openApiDocument.parse(given)
  const [first, ...others] = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, described]) => ({
      id: described.operationId,
      method: method.toUpperCase(),
      path,
      request: requestOf(described),
      objection: objectionOf(ajv, described),
    })),
  )
  if (!first) throw new Error('the document describes no operation')
  return [first, ...others]
}

function requestOf({ parameters, requestBody }: z.output<typeof operation>): Schema {
  if (requestBody) return schema.parse(requestBody.content['application/json'].schema)
  const query = parameters.filter((one) => one.in === 'query')
  return {
    type: 'object',
    properties: Object.fromEntries(query.map((one) => [one.name, one.schema])),
    required: query.filter((one) => one.required === true).map(({ name }) => name),
  }
}

function objectionOf(ajv: Ajv2020, { responses }: z.output<typeof operation>) {
  const checks = Object.fromEntries(
    Object.entries(responses).map(([status, response]) => [
      status,
      ajv.compile(
        z.record(z.string(), z.unknown()).parse(response.content['application/json'].schema),
      ),
    ]),
  )
  return (status: number, body: unknown) => {
    const check = checks[status]
    if (!check) return `status ${status} is not described`
    return check(body) ? undefined : ajv.errorsText(check.errors)
  }
}
