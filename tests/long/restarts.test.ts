import { beforeAll, test } from 'vitest'
import { openScene, payThroughCrashes, type Scene } from '../support/crash-race.ts'
import { seeded } from '../support/seed.ts'

const timeoutMilliseconds = 3_600_000

let scene: Scene
beforeAll(async () => {
  scene = await openScene()
})

test(
  'while PostgreSQL crashes 50 times and isolates die 50 times, 5,000 payments are made once each',
  () => payThroughCrashes(scene, seeded(), { payments: 5_000, crashes: 50, kills: 50 }),
  timeoutMilliseconds,
)
