/** Validators of clients can read the schemas of all operations. */
import { Ajv2020 } from 'ajv/dist/2020.js'
import { fullFormats } from 'ajv-formats/dist/formats.js'
import { expect, test } from 'vitest'
import { contracts } from '../../../functions/contracts.ts'
import {
  refusalSchema,
  requestSchema,
  responseSchema,
} from '../../../shared/contract/documents/openapi.ts'

/** Returns the values of a keyword anywhere in a schema. */
function valuesOf(keyword: string, schema: unknown): unknown[] {
  if (typeof schema !== 'object' || schema === null) return []
  return Object.entries(schema).flatMap(([key, held]: [string, unknown]) => [
    ...(key === keyword ? [held] : []),
    ...valuesOf(keyword, held),
  ])
}

/** Syntax that ECMAScript without flags, RE2 and the `re` of Python read alike; at most 1,000 repetitions. */
const portable =
  /^(?:[^\\()[\]{}]|\\[dsSwW\-.+/^$]|\\x[0-9a-f]{2}|\[\^?(?:[^\\[\]]|\\[dsw\-/.+]|\\x[0-9a-f]{2}|\\t)+\]|\((?:\?:)?(?!\?)|\)|\{\d{1,3}(?:,\d{0,3})?\})+$/

test('every pattern means the same in the engines that read schemas, and nothing is a reference', () => {
  const schemas = contracts.flatMap((contract) => [
    requestSchema(contract),
    responseSchema(contract),
  ])
  const patterns = [...new Set(valuesOf('pattern', schemas).map(String))]

  expect(patterns.length).toBeGreaterThan(20)
  expect(patterns.filter((pattern) => !portable.test(pattern))).toEqual([])
  expect(() => patterns.map((pattern) => new RegExp(pattern))).not.toThrow()
  expect([...valuesOf('$ref', schemas), ...valuesOf('$defs', schemas)]).toEqual([])
})

test('a refusal may have any details', () => {
  expect(refusalSchema.properties.details).toMatchObject({
    type: 'object',
    additionalProperties: true,
  })
})

test('a validator knows every format in a schema, and complains to no client of one', () => {
  const complaints: unknown[] = []
  const complain = (...words: unknown[]) => complaints.push(words)
  const logger = { log: complain, warn: complain, error: complain }
  const ajv = new Ajv2020({ strict: false, logger, formats: fullFormats })

  for (const contract of contracts) {
    ajv.compile(requestSchema(contract))
    ajv.compile(responseSchema(contract))
  }

  expect(complaints).toEqual([])
})
