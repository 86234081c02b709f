/** The password at hand, which somebody else may know, is no new one. */
import { expect, test } from 'vitest'
import { addPasskey, openPerson, signInAs } from '../support/person.ts'
import { start } from '../support/world.ts'

const world = await start()
const hour = 3_600

function pageOfHours(count: number): string {
  const since = new Date(world.world.now().getTime() - count * hour * 1_000)
  return `/web/not-me?since=${since.toISOString()}`
}

test.each(['/web/security/password', 'not-me'])(
  'the password at hand is no new one at %s',
  async (path) => {
    const person = await openPerson(world)
    await world.tick(100 * hour)
    const owner = await signInAs(world, person)
    if (path === 'not-me') await addPasskey(owner)
    await world.tick(hour)
    const again = await signInAs(world, person)
    await again.visit(path === 'not-me' ? pageOfHours(2) : path)

    const answer = await again.submit({ password: person.password })

    expect([answer.status, answer.text]).toEqual([422, expect.stringContaining('Choose another')])
  },
)
