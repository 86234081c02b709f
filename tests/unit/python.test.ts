/** The Python client, read as text, has the operations of the contracts, with the same fields. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { contracts } from '../../functions/contracts.ts'
import { contractDigest, errorCodes, operations } from '../../scripts/client/operations.ts'
import { readSchema, type Schema } from '../../scripts/generate/json-type.ts'
import { requestSchema, responseSchema } from '../../shared/contract/documents/openapi.ts'

const file = '../../scripts/python/agent_operating_account/operations.py'
const python = readFileSync(new URL(file, import.meta.url), 'utf8')

/** Returns the fields of a schema by their paths, such as `limits.resets_at?` for one that may be absent. */
function pathsOf(schema: Schema): string[] {
  const { properties = {}, required = [], items = [], anyOf = [], oneOf = [] } = schema
  const own = Object.entries(properties).flatMap(([name, inner]) => [
    `${name}${required.includes(name) ? '' : '?'}`,
    ...pathsOf(inner).map((path) => `${name}.${path}`),
  ])
  return [...own, ...[items, anyOf, oneOf].flat().flatMap(pathsOf)]
}

type Field = { name: string; type: string; isAbsent: boolean }

/** Reads lines such as `from_: str | None = None`, which names the field `from`. */
function fieldsIn(lines: string): Field[] {
  return [...lines.matchAll(/^ +(\w+?)_?: (.*?),?$/gm)].map(([, name = '', type = '']) => {
    return { name, type, isAbsent: /^NotRequired| = None$/.test(type) }
  })
}

const classes = new Map(
  [...python.matchAll(/^class (\w+)\((?:Model|TypedDict)\):\n((?: {4}.*\n)*)/gm)].map(
    ([, name = '', lines = '']) => [name, fieldsIn(lines)],
  ),
)

function pathsIn(fields: readonly Field[]): string[] {
  return fields.flatMap(({ name, type, isAbsent }) => {
    const inner = [...type.matchAll(/\w+/g)].flatMap(([word]) => pathsIn(classes.get(word) ?? []))
    return [`${name}${isAbsent ? '?' : ''}`, ...inner.map((path) => `${name}.${path}`)]
  })
}

const methods = [
  ...python.matchAll(
    /^ {4}def ([a-z]\w*)\(\n(.*?)^ {4}\) -> (\w+):$.*?^ {8}return self\._call\('\1', \3, \{(.*?)\}(, idempotency_key)?\)$/gms,
  ),
].map(([, id, parameters = '', answer = '', sent = '', key]) => {
  return { id, parameters: fieldsIn(parameters), answer, sent, isKeyed: key !== undefined }
})

const sorted = (paths: readonly string[]) => [...new Set(paths)].toSorted()

test('every operation is a method of the Python client, called in the same way', () => {
  const rows = [...python.matchAll(/: Call\((.*)\),$/gm)].map(([, row]) => row)
  const calls = Object.values(operations)

  expect(calls).toHaveLength(contracts.length)
  expect(rows).toEqual(
    calls.map(({ id, method, folder, keyed, repeatable }) => {
      const words = [keyed, repeatable].map((isTrue) => (isTrue ? 'True' : 'False'))
      return [...[id, method, folder].map((text) => `'${text}'`), ...words].join(', ')
    }),
  )
  expect(methods.map(({ id }) => id)).toEqual(calls.map(({ id }) => id))
})

test.each(contracts)('$id takes and answers the same fields in Python', (contract) => {
  const method = methods.find(({ id }) => id === contract.id)
  const parameters = method?.parameters ?? []
  const fields = parameters.filter(({ name }) => name !== 'idempotency_key')
  const answered = pathsIn(classes.get(method?.answer ?? '') ?? [])

  expect(answered).not.toEqual([])
  expect(sorted(answered)).toEqual(sorted(pathsOf(readSchema(responseSchema(contract)))))
  expect(sorted(pathsIn(fields))).toEqual(sorted(pathsOf(readSchema(requestSchema(contract)))))
  const sent = [...(method?.sent ?? '').matchAll(/'(\w+)': (\w+?)_?(?=,|$)/g)]
  expect(sent.map(([, key, value]) => [key, value])).toEqual(fields.map(({ name }) => [name, name]))
  expect([method?.isKeyed, parameters.length > fields.length]).toEqual(
    Array(2).fill(contract.mutates === true),
  )
})

test('the codes and the digest of the contracts are the same', () => {
  const [, codes = ''] = /^ErrorCode = Literal\[(.*)\]$/m.exec(python) ?? []

  expect(codes.split(', ')).toEqual(errorCodes.map((code) => `'${code}'`))
  expect(python).toContain(`CONTRACT_DIGEST = '${contractDigest}'\n`)
})
