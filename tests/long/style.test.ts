/** Goals of the house style that the code does not meet yet; tests/tidy.test.ts checks the met ones. */
import { expect, test } from 'vitest'
import { operationFolders, quantile, sourcesIn } from '../support/tidy/files.ts'

test("half of the operations' folders have at most 60 lines", () => {
  const lines = operationFolders(sourcesIn('functions')).map((folder) => folder.lines)

  expect(quantile(lines, 0.5)).toBeLessThanOrEqual(60)
})
