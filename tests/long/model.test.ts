import { expect, test } from 'vitest'
import { runOperations } from '../support/model/commands.ts'
import { seed } from '../support/seed.ts'

const operationsMin = 1_000_000

test('a million operations in any order leave the ledger as its slow twin has it', {
  timeout: 3_600_000,
}, async () => {
  const { operations, seconds } = await runOperations(operationsMin, seed)

  const rate = Math.round(operations / seconds)
  process.stdout.write(`${operations} operations in ${Math.round(seconds)} s, ${rate} a second\n`)
  expect(operations).toBeGreaterThanOrEqual(operationsMin)
})
