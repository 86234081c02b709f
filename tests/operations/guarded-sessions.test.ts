/** In the three days after a recovery, nobody ends a session by signing in without a passkey. */
import { expect, test } from 'vitest'
import { openHouse } from '../support/not-me.ts'
import { randomBytes } from '../support/seed.ts'
import { start } from '../support/world.ts'

const world = await start()
const { sql } = world.db
const digest = () => randomBytes(32).toString('hex')

test('who found a code signs in as often as is let, and every session of the owner stands', async () => {
  const { agent, owner, account } = await openHouse(world)
  const email = `${agent.alias}@people.example`
  const code = digest()
  await sql`insert into private.recovery_codes (account, digest) values (${account}, ${code})`
  await world.tick(60)
  const thief = digest()
  await sql`select from api.login_with_code(${email}, ${code}, ${thief}, '', '192.0.2.1')`
  await sql`select from api.owner_set_password(${thief}, 'of a thief', ${digest()})`

  for (let count = 0; count < 22; count += 1) {
    await sql`select from
      api.login_with_password(${email}, 'of a thief', ${digest()}, '', '192.0.2.1')`
  }

  expect(await owner.call('owner_security')).toHaveLength(1)
  await world.tick(73 * 3_600)
  for (let count = 0; count < 22; count += 1) {
    await sql`select from
      api.login_with_password(${email}, 'of a thief', ${digest()}, '', '192.0.2.1')`
  }
  const [live] = await sql`select count(*)::integer from private.credentials
    where account = ${account} and kind = 'session' and revoked_at is null
      and expires_at > private.clock()`
  expect(live?.['count']).toBe(20)
})
