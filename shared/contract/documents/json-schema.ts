/**
 * Requests and answers of an operation as JSON Schema (draft 2020-12), for documents, tools and clients.
 * All of them use these two functions, so none describes an operation differently from the others.
 */
import * as z from 'zod'
import { fullResponseOf } from '../answered.ts'
import type { Operation } from '../operation.ts'

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
