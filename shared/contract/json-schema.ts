/**
 * Requests and answers of an operation as JSON Schema (draft 2020-12), for documents, tools and clients.
 * All of them read these two, so none describes an operation otherwise than the others.
 */
import * as z from 'zod'
import { answerOf } from './answered.ts'
import type { Operation } from './operation.ts'

/** A JSON Schema of an object, without `$schema`. */
export type ObjectSchema = {
  type: 'object'
  properties?: Record<string, unknown>
  required?: string[]
  [key: string]: unknown
}

/** What a caller sends: query parameters of a GET, the JSON body of a POST. */
export function requestSchema({ request }: Operation): ObjectSchema {
  return objectSchema(z.toJSONSchema(request, { io: 'input', override: withStandardFormats }))
}

/** What a caller is answered with 200. */
export function responseSchema(contract: Operation): ObjectSchema {
  return objectSchema(
    z.toJSONSchema(answerOf(contract), { io: 'output', override: withStandardFormats }),
  )
}

/**
 * JSON Schema knows base64 as an encoding (draft 2020-12, validation, section 8.3) and not as a
 * format: validators complain of formats that they do not know.
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
