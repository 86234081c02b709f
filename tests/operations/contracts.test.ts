/** The list of contracts matches the folders on disk, with the same names. */
import { existsSync, readdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import { contracts } from '../../functions/contracts.ts'
import { errorTable } from '../../shared/contract/errors.ts'
import { commonErrors } from '../../shared/contract/operation.ts'
import { functionsIn } from '../support/functions.ts'
import { refusedSampleOf, sampleOf } from '../support/samples.ts'
import { start } from '../support/world.ts'

const root = new URL('../../functions/', import.meta.url)
const foldersOnDisk = readdirSync(root)
  .filter((name) => existsSync(new URL(`${name}/contract.ts`, root)))
  .toSorted()

test('every folder with a contract is in the list, and nothing else is', () => {
  const folders = new Set(contracts.map(({ folder }) => folder))
  expect([...folders].toSorted()).toEqual(foldersOnDisk)
})

test('every operation has the three files and can be called in tests', async () => {
  const { world } = await start()
  const callable = functionsIn(world)
  for (const folder of foldersOnDisk) {
    const files = readdirSync(new URL(folder, root)).toSorted()
    expect(files, folder).toEqual(['contract.ts', 'handler.ts', 'index.ts'])
    expect(callable.has(folder), folder).toBe(true)
  }
})

test('ids are unique and snake_case, folders kebab-case with one operation for a method', () => {
  const ids = contracts.map(({ id }) => id)
  const paths = contracts.map(({ folder, method }) => `${method} ${folder}`)
  expect(new Set(ids).size).toBe(ids.length)
  expect(new Set(paths).size).toBe(paths.length)
  for (const id of ids) expect(id).toMatch(/^[a-z][a-z0-9]*(_[a-z0-9]+)*$/)
  for (const { folder } of contracts) expect(folder).toMatch(/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/)
})

test('every operation reads without changes by GET and says what it does in a sentence', () => {
  for (const { method, mutates, summary } of contracts) {
    expect([method, mutates]).not.toEqual(['GET', true])
    expect(summary).toMatch(/^[A-Z].{10,140}\.$/)
  }
})

test('an operation lists its own errors once, and none that the pipeline adds anyway', () => {
  for (const contract of contracts) {
    const common = commonErrors(contract)
    const all = [...contract.errors, ...common]
    expect(new Set(all).size, contract.id).toBe(all.length)
  }
})

test('each error has a status of refusal and a sentence that is one', () => {
  for (const [code, [status, sentence]] of Object.entries(errorTable)) {
    expect(code).toMatch(/^[a-z]+(_[a-z]+)*$/)
    expect(status, code).toBeGreaterThanOrEqual(400)
    expect(status, 'status 402 is a protocol, not an error').not.toBe(402)
    expect(sentence).toMatch(/^[A-Z].*\.$/)
  }
})

test('the samples of the generated tests have the described shape', () => {
  for (const contract of contracts) {
    for (const sample of [sampleOf(contract), refusedSampleOf(contract)]) {
      expect(contract.request.safeParse(sample).error, contract.id).toBeUndefined()
    }
  }
})
