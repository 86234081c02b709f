import { beforeAll, test } from 'vitest'
import { inForm } from '../support/cases.ts'
import { openScene, payThroughCrashes, type Scene } from '../support/crash-race.ts'
import { seeded } from '../support/seed.ts'

const timeoutMilliseconds = 240_000

let scene: Scene
beforeAll(async () => {
  scene = await openScene()
})

test(
  'while PostgreSQL crashes and isolates die, payments are made once each',
  () =>
    payThroughCrashes(scene, seeded(), {
      payments: inForm(16, 50),
      crashes: inForm(1, 2),
      kills: inForm(1, 2),
    }),
  timeoutMilliseconds,
)
