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
  'while PostgreSQL crashes 10 times and isolates die 10 times, 250 payments are made once each',
  () => payThroughCrashes(scene, seeded(), { payments: 250, crashes: 10, kills: 10 }),
  timeoutMilliseconds,
)
