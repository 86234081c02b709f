/** A session without a proof ends no session that was proven after it. */
import { expect, test } from 'vitest'
import type { Browser } from '../support/browserless.ts'
import { openPerson, signInAs } from '../support/person.ts'
import { start } from '../support/world.ts'

const world = await start()
const isIn = async (browser: Browser) =>
  (await browser.visit('/web/security')).path === '/web/security'

test('an old cookie does not end the session in which the owner just signed in, and the owner ends its', async () => {
  const person = await openPerson(world)
  const thief = await signInAs(world, person)
  await world.tick(20 * 60)
  const owner = await signInAs(world, person)
  await thief.visit('/web/security/sessions')

  await thief.submit({ session: 'others' }, '/web/security/sessions')
  const stays = await isIn(owner)
  await owner.visit('/web/security/sessions')
  await owner.submit({ session: 'others' }, '/web/security/sessions')

  expect(stays).toBe(true)
  expect(await isIn(owner)).toBe(true)
  expect(await isIn(thief)).toBe(false)
})
