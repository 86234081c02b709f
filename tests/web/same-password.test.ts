/** The password at hand, which somebody else may know, is not a new one. */
import { expect, test } from 'vitest'
import { openPerson, signInAs } from '../support/person.ts'
import { start } from '../support/world.ts'

const world = await start()

test.each(['/web/security/password', '/web/secure'])(
  'the password at hand is no new one at %s',
  async (path) => {
    const person = await openPerson(world)
    const owner = await signInAs(world, person)
    await owner.visit(path)

    const answer = await owner.submit({ password: person.password })

    expect([answer.status, answer.text]).toEqual([422, expect.stringContaining('Choose another')])
  },
)
