/** A key that the database rejects is reported within a minute, whichever function holds it. */
import { expect, test } from 'vitest'
import { createSigningKey, mintToken } from '../../scripts/local/database-keys.ts'
import { readGaps } from '../../shared/health/read-gaps.ts'
import { watchHealth } from '../../shared/health/watch.ts'
import { project, signingKey } from '../support/database.ts'
import { forgetHealth } from '../support/health.ts'
import { openProduct } from '../support/product.ts'
import { start } from '../support/world.ts'

const tests = await start({ chain: true })
const { bindings } = tests

const inSeconds = (seconds: number) => Math.floor(Date.now() / 1000) + seconds
const minted = (role: string, expiresAtSeconds = inSeconds(60), key = signingKey) =>
  mintToken(key, { role, expiresAtSeconds })

/** Runs one health check and returns the capabilities that a reader then finds unavailable. */
async function unavailableWith(given: Partial<typeof bindings>) {
  const world = openProduct({ ...bindings, ...given }, { log() {} })
  await forgetHealth(tests.db, world)
  await watchHealth(world, 1)
  const all = await readGaps(world)
  return all.filter(({ status }) => status === 'unavailable').map(({ gap_id }) => gap_id)
}

const withCustody = (CUSTODY_DATABASE_KEY: string) =>
  unavailableWith({ custody: { ...bindings.custody, CUSTODY_DATABASE_KEY } })
const withVault = (VAULT_DATABASE_KEY: string) =>
  unavailableWith({ vault: { ...bindings.vault, VAULT_DATABASE_KEY } })

const wrong = (role: string): [string, string][] => [
  ['expired', minted(role, inSeconds(-120))],
  ['of another role', minted('service_role')],
  ['of another project', minted(role, inSeconds(60), createSigningKey())],
  ['the key of the project', project.apiKey],
]

test('with keys that are taken, both are there', async () => {
  const all = await unavailableWith({})

  expect(all).not.toContain('GAP_TRANSFER_V1')
  expect(all).not.toContain('GAP_VAULT_V1')
})

test.each(wrong('custody'))('a key of custody that is %s is told', async (_what, key) => {
  expect(await withCustody(key)).toEqual(expect.arrayContaining(['GAP_TRANSFER_V1', 'GAP_X402_V1']))
})

test.each(wrong('vault'))('a key of the vault that is %s is told', async (_what, key) => {
  const all = await withVault(key)

  expect(all).toContain('GAP_VAULT_V1')
  expect(all).not.toContain('GAP_TRANSFER_V1')
})

test('a token in place of the key of the project opens nothing', async () => {
  const custody = {
    ...bindings.custody,
    SUPABASE_API_KEY: bindings.custody['CUSTODY_DATABASE_KEY'] ?? '',
  }

  expect(await unavailableWith({ custody })).toContain('GAP_TRANSFER_V1')
})
