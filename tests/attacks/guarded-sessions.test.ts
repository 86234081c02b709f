/** While guarded, who signs in often ends no session of the owner. */
import { randomBytes } from 'node:crypto'
import { beforeAll, expect, test } from 'vitest'
import { ownerOf } from '../support/owner.ts'
import type { TestWorld } from '../support/world.ts'
import { start } from '../support/world.ts'
let world: TestWorld
beforeAll(async () => { world = await start() })
const hex = () => randomBytes(32).toString('hex')
test('twenty sign-ins with a password that was set by a code leave the session of the owner', async () => {
  const agent = await world.agent('full')
  const email = `${agent.alias}@people.example`
  await world.db.sql`insert into private.owners (account, email, password_hash) values (${agent.id}, ${email}, 'a hash')`
  const owner = await ownerOf(world, agent)
  await world.db.sql`update private.credentials set expires_at = private.clock() + interval '12 hours' where digest = ${owner.credential}`
  const code = hex()
  await world.db.sql`insert into private.recovery_codes (account, digest) values (${agent.id}, ${code})`
  await world.tick(10)
  const thief = hex()
  await world.db.sql`select * from api.login_with_code(${email}, ${code}, ${thief}, '', '192.0.2.1')`
  await world.db.sql`select * from api.owner_set_password(${thief}, 'thiefs', ${hex()})`
  for (let at = 0; at < 22; at += 1) await world.db.sql`select * from api.login_with_password(${email}, 'thiefs', ${hex()}, '', '192.0.2.1')`
  expect(await owner.call('owner_security')).toHaveLength(1)
})
