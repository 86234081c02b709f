/**
 * Limits and consents hold in 100,000 random actions over 100 seeds. PLAY_SEED sets the first seed and
 * PLAY_SEEDS their number, so that the run can be split. Two plays run at a time, since each often
 * waits.
 */
import { expect, test } from 'vitest'
import { firstSeed, playSeed } from '../support/play/seeds.ts'

const actionsPerSeed = 1_000
const seeds = Number(process.env['PLAY_SEEDS'] ?? 100)
const shrinkMilliseconds = 600_000
const first = firstSeed()

test.concurrent.each(Array.from({ length: seeds }, (_, at) => first + at))(
  'whatever anybody does, what leaves a wallet is what its limits and consents let through: PLAY_SEED=%i',
  { timeout: 3_600_000 },
  async (seed) => {
    const started = Date.now()
    const broken = await playSeed(seed, actionsPerSeed, shrinkMilliseconds)
    const seconds = (Date.now() - started) / 1_000
    const speed = Math.round(actionsPerSeed / seconds)
    process.stdout.write(`PLAY_SEED=${seed}: ${broken ? 'broken' : 'held'}, ${speed} actions/s\n`)
    expect(broken).toBeUndefined()
  },
)
