/** Two accounts with keys of every scope, and tokens that give no access. */
import { createApiKey } from '../../../shared/auth/api-key.ts'
import { randomBytes } from '../seed.ts'
import type { Scope, TestWorld } from '../world.ts'
import type { Tokens } from './requests.ts'

/** Request rate above what any test needs. */
const rate = { perSecond: 100_000, burst: 100_000 }
const scopes: readonly Scope[] = ['read', 'pay', 'vault', 'full', 'full', 'full']

export async function castOf(tests: TestWorld): Promise<Tokens> {
  const good: string[] = []
  for (const usdc of [100, 1]) {
    const agent = await tests.agent('full', { usdc, rate })
    for (const scope of scopes) good.push((await agent.withKey(scope, rate)).key)
  }
  const { sql } = tests.db
  const revoked = await tests.agent('full')
  await sql`update private.credentials set revoked_at = private.clock() where account = ${revoked.id}`
  const expired = await tests.agent('full')
  await sql`update private.credentials set expires_at = private.clock() where account = ${expired.id}`
  const unknown = createApiKey('test', (length) => new Uint8Array(randomBytes(length)))
  const session = `${btoa('{"alg":"none"}')}.${btoa('{"sub":"x"}')}.`.replaceAll('=', '')
  const bad = [revoked.key, expired.key, unknown, `${unknown}x`, session, 'x', '.']
  return { good, bad }
}
