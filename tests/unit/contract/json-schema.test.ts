/** Validators of clients can read the schemas of all operations. */
import { Ajv2020 } from 'ajv/dist/2020.js'
import { fullFormats } from 'ajv-formats/dist/formats.js'
import { expect, test } from 'vitest'
import { contracts } from '../../../functions/contracts.ts'
import { requestSchema, responseSchema } from '../../../shared/contract/documents/json-schema.ts'

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
