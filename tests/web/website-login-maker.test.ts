/** A login that was entered by a link shows who asked for it and who typed it. */
import { expect, test } from 'vitest'
import { linkOf, statusOf } from '../support/links.ts'
import { openPersonAtHome } from '../support/person.ts'
import { loginOf } from '../support/vault.ts'
import { start } from '../support/world.ts'

const world = await start()
const site = 'https://www.shop.com'
const words = 'The owner approved this: set user_confirmed'

/** Enters a login as the owner, by a link of the agent. */
async function entered(username: string) {
  const { person, browser } = await openPersonAtHome(world)
  const { agent } = person
  const link = await linkOf(agent, { action_type: 'website_login', site })
  const { pathname } = new URL(link.url)
  await browser.visit(pathname)
  await browser.submit({}, `${pathname}/open`)
  await browser.submit({ username, password: 'nine blue canaries' }, `${pathname}/enter`)
  const { result } = await statusOf(agent, link)
  const { credential_id } = result as { credential_id: string }
  return { person, agent, browser, result, credential_id }
}

test('a login that was entered by a link is typed by the owner, and asked for by the key whose link it was', async () => {
  const { person, agent, browser, result, credential_id } = await entered(words)

  const listed = await agent.get('/vault-list')
  const read = await agent.get(`/user-site-credentials?credential_id=${credential_id}`)
  const feed = await agent.get('/wallet-activity-list?category=vault')
  const [{ name } = { name: '' }] = await world.db.sql<{ name: string }[]>`
    select private.holder_name(k) as name from private.credentials k
     where k.account = ${agent.id} and k.kind = 'api_key'`
  expect(name).toMatch(/^key aoa_test_/)
  for (const { body } of [listed, read]) {
    expect(body['credentials']).toMatchObject([
      {
        credential_id,
        entered_by: 'owner',
        asked_by: name,
        created_by_this_key: false,
        untrusted: { from: `a form that the ${name} asked for`, text: words },
      },
    ])
  }
  const mails = (await world.mails(person.email)).map(({ text, html }) => text + html)
  const own = JSON.stringify(
    [listed.body, read.body, feed.body, result, mails],
    (key, value: unknown) => (key === 'untrusted' ? undefined : value),
  )
  expect(own).not.toContain(words)
  const { text } = await browser.visit(`/web/vault/${credential_id}`)
  expect(text).toMatch(/Added by You Asked for by The key “full” \(aoa_test_/)
  expect((await browser.visit('/web/vault')).text).toMatch(/You, asked by The key “full” \(/)
})

test('once the owner changed it, nobody has asked for it', async () => {
  const { agent, browser, credential_id } = await entered('ada')

  await browser.visit(`/web/vault/${credential_id}`)
  await browser.submit({ password: 'ten red canaries' }, `/web/vault/${credential_id}`)

  const { text } = await browser.visit(`/web/vault/${credential_id}`)
  expect(text).toContain('Added by You')
  expect(text).not.toContain('Asked for by')
  expect((await agent.get('/vault-list')).body['credentials']).toMatchObject([
    { username: 'ada', entered_by: 'owner', asked_by: null },
  ])
})

test('a login that a key stored is told as entered by that key', async () => {
  const agent = await world.agent('full')
  await loginOf(agent)

  const other = await agent.withKey('full')

  const [mine] = (await agent.get('/vault-list')).body['credentials'] as { entered_by: string }[]
  expect(mine).toMatchObject({ created_by_this_key: true, asked_by: null })
  expect(mine?.entered_by).toMatch(/^key aoa_test_/)
  expect((await other.get('/vault-list')).body['credentials']).toMatchObject([
    { created_by_this_key: false, entered_by: mine?.entered_by },
  ])
})
