/** Whoever can sign in in one way ends no session of another by signing in. */
import { expect, test } from 'vitest'
import { openHouse } from '../support/house.ts'
import { randomBytes } from '../support/seed.ts'
import { start } from '../support/world.ts'

const world = await start()
const { sql } = world.db
const digest = () => randomBytes(32).toString('hex')

test('who found codes signs in as often as is let, and every session of the owner stands', async () => {
  const { agent, owner, account } = await openHouse(world)
  const email = `${agent.alias}@people.example`

  for (let count = 0; count < 22; count += 1) {
    const code = digest()
    await sql`insert into private.recovery_codes (account, digest) values (${account}, ${code})`
    await sql`select from api.login_with_code(${email}, ${code}, ${digest()}, '', ${`192.0.2.${count}`})`
    await world.tick(60)
    await owner.call('owner_touch_session')
  }

  const live = await sql`select s.signed_in_with, count(*)::integer as sessions
    from private.sessions s join private.credentials k on k.id = s.credential
   where k.account = ${account} and k.revoked_at is null group by 1 order by 1`
  expect([...live]).toEqual([
    { signed_in_with: 'password', sessions: 1 },
    { signed_in_with: 'recovery_code', sessions: 20 },
  ])
})
