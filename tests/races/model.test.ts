import { expect, test } from 'vitest'
import { runOperations } from '../support/model/commands.ts'
import { seedOf } from '../support/model/seed.ts'

const operationsMin = 4_500

test('the ledger does what its slow twin does, and keeps its invariants, in any order of operations', {
  timeout: 300_000,
}, async () => {
  const { operations } = await runOperations(operationsMin, seedOf('the ledger'))

  expect(operations).toBeGreaterThanOrEqual(operationsMin)
})
