import { expect, test } from 'vitest'
import { inForm } from '../support/cases.ts'
import { runOperations } from '../support/model/commands.ts'
import { seed } from '../support/seed.ts'

const operationsMin = inForm(500, 4_500)

test('the ledger does what its slow twin does, and keeps its invariants, in any order of operations', {
  timeout: 300_000,
}, async () => {
  const { operations } = await runOperations(operationsMin, seed)

  expect(operations).toBeGreaterThanOrEqual(operationsMin)
})
