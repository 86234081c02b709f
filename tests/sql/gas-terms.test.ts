/** The gas terms are correct as installed, and an operator can change them for one chain. */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { beforeAll, expect, test } from 'vitest'
import { readGasTerms } from '../../scripts/operator/provision.ts'
import { openTestDatabase, type TestDatabase } from '../support/database.ts'

const script = fileURLToPath(new URL('../../scripts/gas-terms.ts', import.meta.url))

let db: TestDatabase
beforeAll(async () => {
  db = await openTestDatabase()
  return () => db.close()
})

async function run(...args: string[]): Promise<string> {
  const env = { ...process.env, DATABASE_URL: db.url }
  const { stdout } = await promisify(execFile)(process.execPath, [script, ...args], { env })
  return stdout
}

test('as installed a transfer of a cent is relayed and none below, and young accounts have less', async () => {
  const terms = await readGasTerms(db.sql)

  expect(terms.map(({ chain }) => chain)).toContain('0')
  for (const one of terms) {
    expect(one.least_usd_micros).toBe('10000')
    expect(one.young_calls_per_day).toBeLessThan(one.calls_per_day)
    expect(one.young_hours).toBe(72)
  }
})

test('the program changes the terms of one chain, tells those of all, and leaves the rest', async () => {
  const before = await readGasTerms(db.sql)

  const told = await run('--chain', '8453', '--least-usd-micros', '50000', '--calls', '30')
  const after = await readGasTerms(db.sql)

  const common = before.find(({ chain }) => chain === '0')
  const changed = { chain: '8453', least_usd_micros: '50000', calls_per_day: 30 }
  expect(after.filter(({ chain }) => chain !== '8453')).toEqual(before)
  expect(after.find(({ chain }) => chain === '8453')).toEqual({
    ...common,
    ...changed,
    young_calls_per_day: 30,
  })
  expect(told).toContain("chain: '8453'")
  expect(told.match(/least_usd_micros/g)).toHaveLength(before.length + 1)
})

test('a change without a chain changes nothing', async () => {
  const before = await readGasTerms(db.sql)

  await expect(run('--calls', '1')).rejects.toThrow('--chain says for which')

  expect(await readGasTerms(db.sql)).toEqual(before)
})
