/** The schemas of operations, as the validators of clients read them. */
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { expect, test } from 'vitest'
import { contracts } from '../../../functions/contracts.ts'
import { requestSchema, responseSchema } from '../../../shared/contract/json-schema.ts'

test('a validator knows every format in a schema, and complains to no client of one', () => {
  const complaints: unknown[] = []
  const complain = (...words: unknown[]) => complaints.push(words)
  const logger = { log: complain, warn: complain, error: complain }
  const ajv = new Ajv2020({ strict: false, logger })
  addFormats.default(ajv)

  for (const contract of contracts) {
    ajv.compile(requestSchema(contract))
    ajv.compile(responseSchema(contract))
  }

  expect(complaints).toEqual([])
})
