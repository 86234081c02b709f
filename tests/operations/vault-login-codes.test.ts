/** A mailed code goes only into a form of its own host, in a login that takes codes. */
import { expect, test } from 'vitest'
import { openHonestSite } from '../support/honest-site.ts'
import { approveAsked, codeOf, entryOf, signInAt } from '../support/vault-rows.ts'
import { start } from '../support/world.ts'

const world = await start()
const site = await openHonestSite()

test('a code goes into no form at another host, nor in a login that takes none', async () => {
  const agent = await world.agent('vault')
  const given = { site: site.origin, username: 'ada', password: 'Canary-1 horse' }
  const credential_id = await entryOf(world, agent, given)
  const { body } = await signInAt(world, agent, { credential_id })
  await agent.post('/vault-session', { session: body['session'], path: '/otp' })
  const foreign = await codeOf(world, agent, { value: '482914', hosts: ['example.com'] })
  const own = await codeOf(world, agent, { value: '482915', hosts: ['127.0.0.1'] })
  const asked = site.received.length
  const enter = (handle: string) =>
    agent.post('/vault-session', {
      session: body['session'],
      form: 0,
      secret: `mail.${handle}`,
    })
  const letTake = (takes: boolean) =>
    world.db
      .sql`update private.vault_entries set takes_codes = ${takes} where id = ${credential_id}`

  const elsewhere = await enter(foreign)
  await letTake(false)
  const untaken = await enter(own)
  const sent = site.received.length - asked
  await letTake(true)
  const unasked = await enter(own)
  await approveAsked(world, credential_id)
  const taken = await enter(own)

  expect(elsewhere).toMatchObject({ status: 403, body: { error: 'code_not_for_site' } })
  expect(untaken).toMatchObject({ status: 403, body: { error: 'code_needs_owner' } })
  expect(sent).toBe(0)
  expect(unasked).toMatchObject({ status: 403, body: { error: 'destination_not_approved' } })
  expect(taken).toMatchObject({ status: 200, body: { filled: ['code'] } })
})
