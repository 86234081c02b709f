/** In 10,000 random histories, nobody can do more than the owner of the account allowed. */
import { expect, test } from 'vitest'
import { runHistories } from '../support/authority/histories.ts'
import { seed } from '../support/seed.ts'

const historiesMin = Number(process.env['HISTORIES'] ?? 10_000)

test('in ten thousand random histories nobody may more than follows from the acts of the owner', {
  timeout: 36_000_000,
}, async () => {
  const began = performance.now()

  const { histories, steps, asked, done } = await runHistories(historiesMin, seed)

  const seconds = Math.round((performance.now() - began) / 1000)
  process.stdout.write(
    `${histories} histories, ${steps} steps, ${asked} questions in ${seconds} s\n${[...done].join(' ')}\n`,
  )
  expect(histories).toBe(historiesMin)
})
