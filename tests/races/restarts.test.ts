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
  'while PostgreSQL crashes twice and isolates die twice, 50 payments are made once each',
  () => payThroughCrashes(scene, seeded(), { payments: 50, crashes: 2, kills: 2 }),
  timeoutMilliseconds,
)
