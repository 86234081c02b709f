import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

/** Number of rows of the fault table, from a repeated request to a second way to pay. */
const rowsMax = 30

test('every row of the fault table has a test that is named by its number', () => {
  const folders = [import.meta.dirname, `${import.meta.dirname}/../long/faults`]
  const files = folders.flatMap((folder) =>
    readdirSync(folder)
      .filter((name) => name.startsWith('table-'))
      .map((name) => `${folder}/${name}`),
  )
  const text = files.map((file) => readFileSync(file, 'utf8')).join('')

  const rows = [...text.matchAll(/^\s*(?:test\()?\[?'(\d+)(?:-(\d+))?\. /gm)].flatMap(
    ([, first, last = first]) =>
      Array.from({ length: Number(last) - Number(first) + 1 }, (_, at) => Number(first) + at),
  )

  const every = Array.from({ length: rowsMax }, (_, at) => at + 1)
  expect([...new Set(rows)].sort((a, b) => a - b)).toEqual(every)
})
