/** Secrets that a session used earlier are in no later answer: codes, links, and fields that the site fills in. */
import { expect, test } from 'vitest'
import { serverThat } from '../support/http.ts'
import { codeOf, entryOf, signInAt } from '../support/vault-rows.ts'
import { start } from '../support/world.ts'

const world = await start()
const password = 'Canary-1 horse'
const signIn =
  '<form method="post"><input name="user"><input name="password" type="password"></form>'

/** Opens a session at a site that serves these pages, and answers each post with what it was sent. */
async function openSession(pages: Readonly<Record<string, string>>) {
  const site = await serverThat((response, { method, url, body }) => {
    response.setHeader('content-type', 'text/html; charset=utf-8')
    if (method === 'POST' && url === '/login') response.writeHead(303, { location: '/' }).end()
    else response.end(method === 'POST' ? body.toString() : (pages[url] ?? signIn))
  })
  const { origin } = new URL(site.url)
  const agent = await world.agent('vault')
  const credential_id = await entryOf(world, agent, { site: origin, username: 'ada', password })
  const { session } = (await signInAt(world, agent, { credential_id })).body
  const step = async (order: object) =>
    (await agent.post('/vault-session', { session, ...order })).body
  const mailed = async (value: string, kind: 'code' | 'link' = 'code') =>
    `mail.${await codeOf(world, agent, { value, hosts: ['127.0.0.1'], kind })}`
  return { origin, agent, step, mailed }
}

test('each code and link that was used within the hour is removed, not the last few alone', async () => {
  const codes = ['48291301', '48291302', '48291303', '48291304', '48291305', '48291306']
  const token = 'Xk39dKq02LmZ'
  const { origin, agent, step, mailed } = await openSession({
    '/code': '<form method="post" action="/code"><input name="otp"></form>',
    '/used': `Used: ${codes.join(', ')} and ${token}.`,
  })
  await step({ secret: await mailed(`${origin}/magic?token=${token}`, 'link') })
  for (const code of codes) {
    await world.db.sql`update private.vault_destinations set approved_at = private.clock()`
    await step({ path: '/code' })
    const asked = await step({ secret: await mailed(code) })
    if (asked['error'] === 'destination_not_approved') {
      await world.db.sql`update private.vault_destinations set approved_at = private.clock()`
      await step({ secret: await mailed(code) })
    }
  }

  const used = await step({ path: '/used' })
  await step({ path: `/magic/${token}` })

  expect(used).toMatchObject({
    response: {
      body: `Used: ${codes.map(() => '[secret removed]').join(', ')} and [secret removed].`,
    },
  })
  const { body: feed } = await (await agent.withKey('read')).get('/wallet-activity-list')
  expect(JSON.stringify(feed)).not.toContain(token)
})

test('the answer to a form that the site filled in with the password is not shown', async () => {
  const profile = (value: string) =>
    `<form method="post" action="/profile"><input name="town"><input name="p" value="${value}"></form>`
  const { step } = await openSession({ '/own': profile(password), '/other': profile('Ulm') })

  await step({ path: '/own' })
  const own = await step({ form: 0, fields: { town: 'Rome' } })
  await step({ path: '/other' })
  const other = await step({ form: 0, fields: { town: 'Rome' } })

  expect(own).toMatchObject({ withheld: 'password_sent', response: { body: '' } })
  expect(other).toMatchObject({ response: { body: 'town=Rome&p=Ulm' } })
})
