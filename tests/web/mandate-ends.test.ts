/** The page of an ended mandate says who ended it, and the mail says whose mandate it was. */
import { expect, test } from 'vitest'
import * as z from 'zod'
import { signedIn } from '../support/browserless.ts'
import { appWith } from '../support/capped.ts'
import { askMandate } from '../support/mandates.ts'
import { ownerOf } from '../support/owner.ts'
import { openPersonAtHome } from '../support/person.ts'
import { start } from '../support/world.ts'

const world = await start({ rpcUrls: { 'eip155:84532': ['http://127.0.0.1:9'] } })

/** Creates an active mandate of an app. */
async function given() {
  const agent = await world.agent('full')
  const app = await appWith(world, agent)
  const order = {
    merchant_domain: 'shop.example.com',
    max_amount_per_payment_usd: '1',
    ttl_seconds: 3_600,
  }
  const { body } = await app.post('/payment-mandate-create', order)
  const { mandate_id: mandate, digest } = z
    .object({ mandate_id: z.uuid(), digest: z.string() })
    .parse(body)
  const decision = { mandate, digest, decision: 'approved' }
  const owner = await ownerOf(world, agent)
  expect(await owner.call('owner_decide_mandate', decision)).toEqual([{ outcome: 'approved' }])
  return { agent, app, page: `/web/mandate/${mandate}` }
}

test.each([
  ['revoked by the app', 'by the app that it was for, which gave up its access'],
  ['reused', 'by the service, when it ended the access of the app that it was for'],
  ['disconnected', 'by you'],
])('where the access of an app was %s, its mandate says that it ended %s', async (because, by) => {
  const { agent, app, page } = await given()

  await world.db.sql`select private.end_grant(${app.holder}, ${because})`

  const { text } = await (await signedIn(world, agent)).visit(page)
  expect(text).toContain(`${by}. Nothing more is paid under it`)
})

test.each([
  [{}, 'For: The key or app that asked for it'],
  [{ any_key: 'yes' }, 'For: Any key or app of the account that may pay'],
])('the mail about a mandate that was approved with %j says "%s"', async (ticked, words) => {
  const { person, browser } = await openPersonAtHome(world)
  const { id } = await askMandate(world, person.agent)

  await browser.visit(`/web/mandate/${id}`)
  await browser.submit({ decision: 'approved', ...ticked }, `/web/mandate/${id}`)

  const mails = await world.mails(person.email)
  expect(mails).toMatchObject([{ subject: 'A mandate of your account is active' }])
  expect(mails[0]?.text).toContain(words)
})
