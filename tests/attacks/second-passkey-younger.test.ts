/** A passkey that a younger first one vouched for approves what was asked before both. */
import { beforeAll, expect, test } from 'vitest'
import { waitingPayment, passkeyOwnerOf } from '../support/consents.ts'
import type { TestWorld } from '../support/world.ts'
import { start } from '../support/world.ts'
import { ownerOf } from '../support/owner.ts'
import { bindCredential } from '../../shared/db/database.ts'
import { openAuthenticator } from '../support/authenticator.ts'
import { consentByPasskey } from '../../shared/auth/consent-by-passkey.ts'
import { consentOptions } from '../../shared/auth/passkey-options.ts'
import { digestTicked } from '../support/owner.ts'
let world: TestWorld
beforeAll(async () => { world = await start() })
async function add(owner: Awaited<ReturnType<typeof ownerOf>>) {
  const passkey = openAuthenticator()
  const added = await owner.call('owner_add_passkey', { passkey: passkey.id, public_key: passkey.key.cose.toString('base64url'), counter: '0', transports: [], label: 'Key' })
  expect(added).toEqual([{ added: true }])
  return passkey
}
test.each([1, 2])('passkey number %s', async (number) => {
  const agent = await world.agent('full')
  await world.db.sql`insert into private.owners (account, email, password_hash) values (${agent.id}, ${`${agent.alias}@people.example`}, 'a hash')`
  const payment = await waitingPayment(world, agent)
  await world.tick(60)
  const thief = await ownerOf(world, agent)
  const first = await add(thief)
  const second = await add(thief)
  await world.tick(60)
  const passkey = number === 1 ? first : second
  const later = await ownerOf(world, agent)
  const session = { world: world.world, db: bindCredential(world.world.db, later.credential), account: agent }
  const digest = await digestTicked(world.db, payment, [])
  const assertion = await consentByPasskey(session, passkey.get(consentOptions(world.world, digest, [])), digest)
  const answer = await later.call('owner_decide_payment', { payment, decision: 'approved', digest, assertion })
  expect(answer).toEqual({ refused: 'passkey_younger' })
})
void passkeyOwnerOf
