import { beforeAll, test } from 'vitest'
import type { Scene } from '../support/crash-race.ts'
import { openScene, payThroughCrashes } from '../support/crash-race.ts'
import { seeded } from '../support/seed.ts'

const timeoutMilliseconds = 240_000

let scene: Scene
beforeAll(async () => {
  scene = await openScene()
})

test(
  'while PostgreSQL crashes 6 times and isolates die 6 times, 150 payments are made once each',
  () => payThroughCrashes(scene, seeded(), { payments: 150, crashes: 6, kills: 6 }),
  timeoutMilliseconds,
)
