/**
 * Limits and consents bound what leaves a wallet in random play on a real chain, against a thief with a
 * key, its merchant, payees, contracts and gas givers, a chain that reorganizes and an endpoint that
 * lies.
 */
import { expect, test } from 'vitest'
import { inForm } from '../support/cases.ts'
import { explained, givenScript, playOnce, playSeed } from '../support/play/seeds.ts'
import { seed } from '../support/seed.ts'

const actionsPerSeed = inForm(12, 30)
/** Number of seeds: in the long form one for each theme. */
const seeds = inForm(2, 6)
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
  for (let play = 0; play < seeds; play += 1) {
    expect(await playSeed(seed + play, actionsPerSeed, shrinkMilliseconds)).toBeUndefined()
  }
})
