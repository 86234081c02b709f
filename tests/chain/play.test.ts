/**
 * Limits and consents bound what leaves a wallet in random play on a real chain, against a thief with a
 * key, its merchant, payees, contracts and gas givers, a chain that reorganizes and an endpoint that
 * lies.
 */
import { expect, test } from 'vitest'
import { explained, firstSeed, givenScript, playOnce, playSeed } from '../support/play/seeds.ts'

const actionsPerSeed = 30
/** Number of seeds: one for each theme. */
const seeds = 6
const shrinkMilliseconds = 60_000

test('whatever anybody does, what leaves a wallet is what its limits and consents let through', {
  timeout: 600_000,
}, async () => {
  const given = givenScript()
  if (given) {
    const broken = await playOnce(given)
    expect(broken && (await explained(given, broken, shrinkMilliseconds))).toBeUndefined()
    return
  }
  const first = firstSeed()
  process.stdout.write(`PLAY_SEED=${first}\n`)
  for (let seed = first; seed < first + seeds; seed += 1) {
    expect(await playSeed(seed, actionsPerSeed, shrinkMilliseconds)).toBeUndefined()
  }
})
