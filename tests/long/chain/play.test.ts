/**
 * Limits and consents hold in 100,000 random actions over 100 seeds. SEED is the first seed and
 * PLAY_SEEDS their number, so that the run can be split. Two plays run at a time, since each often
 * waits.
 */
import { expect, test } from 'vitest'
import { playSeed } from '../../support/play/seeds.ts'
import { seed } from '../../support/seed.ts'

const actionsPerSeed = 1_000
const seeds = Number(process.env['PLAY_SEEDS'] ?? 100)
const shrinkMilliseconds = 600_000

test.concurrent.each(Array.from({ length: seeds }, (_, at) => seed + at))(
  'whatever anybody does, what leaves a wallet is what its limits and consents let through: SEED=%i',
  { timeout: 3_600_000 },
  async (one) => {
    const started = Date.now()
    const broken = await playSeed(one, actionsPerSeed, shrinkMilliseconds)
    const seconds = (Date.now() - started) / 1_000
    const speed = Math.round(actionsPerSeed / seconds)
    process.stdout.write(`SEED=${one}: ${broken ? 'broken' : 'held'}, ${speed} actions/s\n`)
    expect(broken).toBeUndefined()
  },
)
