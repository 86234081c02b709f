/** Notices are left out by a fresh proof alone, and mails about security never. */
import { beforeAll, expect, test } from 'vitest'
import { ownForm } from '../support/browserless.ts'
import { openPerson, signInAs } from '../support/person.ts'
import { start, type TestWorld } from '../support/world.ts'

const path = '/web/notifications'
let world: TestWorld
beforeAll(async () => {
  world = await start()
})

test('leaving out a kind takes a fresh proof, and having it back does not', async () => {
  const person = await openPerson(world)
  const browser = await signInAs(world, person)
  const send = (fields: Record<string, string>) => {
    const body = new URLSearchParams({ form: ownForm(browser), wanted: 'chosen', ...fields })
    return browser.send(path, { method: 'POST', body, headers: { origin: 'http://localhost' } })
  }
  const muted = async () => {
    const [row] = await world.db.sql<{ muted: string[] }[]>`
      select muted from private.owners where account = ${person.agent.id}`
    return row?.muted
  }
  await world.tick(601)

  const refused = await send({})
  const none = await muted()
  await browser.visit(`/web/proof?next=${encodeURIComponent(path)}`)
  const { text } = await browser.submit({ password: person.password }, '/web/proof')
  await send({ 'push:security': 'yes' })
  const most = await muted()
  await world.tick(601)
  await send({ 'push:security': 'yes', 'mail:approvals': 'yes' })

  expect(refused.headers.get('location')).toContain('/web/proof')
  expect(text).toContain('What you entered is filled in below')
  expect([none, most, await muted()]).toEqual([
    [],
    ['mail:approvals', 'push:approvals', 'mail:logins', 'push:logins'],
    ['push:approvals', 'mail:logins', 'push:logins'],
  ])
})

test('mails about security cannot be switched off', async () => {
  const person = await openPerson(world)
  const browser = await signInAs(world, person)

  const { html, text } = await browser.visit(path)
  const mute = world.db
    .sql`update private.owners set muted = '{mail:security}' where account = ${person.agent.id}`

  expect(html).not.toContain('name="mail:security"')
  expect(text).toContain('These emails are always sent.')
  await expect(mute).rejects.toThrow('check')
})
