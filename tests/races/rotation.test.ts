import { expect, test } from 'vitest'
import { inForm } from '../support/cases.ts'
import { changeRoot, type Pace } from '../support/rotation-race.ts'
import { seeded } from '../support/seed.ts'

const timeoutMilliseconds = 120_000

/** Returns a pace of `atOnce` clients that send without a pause. */
const eager =
  (atOnce: number): Pace =>
  async (request, isOver) => {
    const client = async () => {
      while (!isOver()) await request()
    }
    await Promise.all(Array.from({ length: atOnce }, client))
  }

test(
  'a root is replaced while logins and mails are written and read, and nothing fails',
  async () => {
    const plan = { pace: eager(8), between: 30, sleepers: inForm(100, 400) }

    const { done } = await changeRoot(seeded(), plan)

    expect(Object.keys(done)).toHaveLength(7)
  },
  timeoutMilliseconds,
)
