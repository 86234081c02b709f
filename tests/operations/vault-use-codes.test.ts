import { beforeAll, expect, test } from 'vitest'
import { serverThat, type TestServer } from '../support/http.ts'
import { deliver } from '../support/inbound.ts'
import { approveDestination, codeOf, entryOf } from '../support/vault-rows.ts'
import { type Agent, mailDomain, start, type TestWorld } from '../support/world.ts'

const path = '/vault-use'
const domain = '127.0.0.1'

let world: TestWorld
/** Server that returns its input. */
let shop: TestServer
let site: string
beforeAll(async () => {
  world = await start()
  shop = await serverThat((response, { url, body }) => response.end(`${url} ${body.toString()}`))
  site = new URL(shop.url).origin
})

async function user(at = site) {
  const agent = await world.agent('vault')
  const credential_id = await entryOf(world, agent, { site: at, password: 'Canary-1' })
  const destination = { secret: 'mail', name: 'otp0', path: '/otp' }
  await approveDestination(world, credential_id, destination)
  return { agent, credential_id }
}

const otp = (...handles: string[]) => ({
  method: 'POST',
  path: '/otp',
  inject: handles.map((handle, at) => ({
    where: 'form_field',
    name: `otp${at}`,
    secret: `mail.${handle}`,
  })),
})
const opening = (handle: string, method = 'GET') => ({
  method,
  inject: [{ where: 'link', secret: `mail.${handle}` }],
})

async function usedAt(agent: Agent, handle: string): Promise<boolean> {
  const [row] = await world.db.sql`select used_at from private.mail_codes
    where account = ${agent.id} and handle = ${handle}`
  return row?.['used_at'] !== null
}

test('a code goes to the site that its mail came from, and not to the agent', async () => {
  const { agent, credential_id } = await user()
  const handle = await codeOf(world, agent, { value: '482913', hosts: [domain] })

  const used = await agent.post(path, { credential_id, ...otp(handle) })

  expect(shop.received.at(-1)?.body.toString()).toBe('otp0=482913')
  expect(used).toMatchObject({
    status: 200,
    body: { response: { status: 200, body: '' }, withheld: 'password_sent' },
  })
})

test('a code that came by mail is used at the login of the host it is proven to be from', async () => {
  const local = site.replace(domain, 'localhost')
  const { agent, credential_id } = await user(local)
  const letter = {
    to: `${agent.alias}@${mailDomain}`,
    from: 'no-reply@localhost',
    subject: 'Your sign-in code',
    text: 'Your verification code is 604918. It is good for ten minutes.',
  }
  await deliver(world.world, { ...letter, authenticated: 'localhost' })
  const rows = await world.db.sql<{ handle: string }[]>`
    select handle from private.mail_codes where account = ${agent.id} and kind = 'code'`
  const [{ handle } = { handle: '' }] = rows

  const used = await agent.post(path, { credential_id, ...otp(handle) })

  expect(used).toMatchObject({
    status: 200,
    body: { response: { status: 200, body: '' }, withheld: 'password_sent' },
  })
  expect(shop.received.at(-1)?.body.toString()).toBe('otp0=604918')
})

test('of 50 requests at once with the same code, one is sent', async () => {
  const { agent, credential_id } = await user()
  const handle = await codeOf(world, agent, { value: '482914', hosts: [domain] })
  const asked = shop.received.length

  const answers = await Promise.all(
    Array.from({ length: 50 }, () => agent.post(path, { credential_id, ...otp(handle) })),
  )

  const won = answers.filter(({ status }) => status === 200)
  const lost = answers.filter(({ body }) => body['error'] === 'code_not_found')
  expect([won.length, lost.length]).toEqual([1, 49])
  expect(shop.received).toHaveLength(asked + 1)
})

test('a code is good for 15 minutes', async () => {
  const { agent, credential_id } = await user()
  const [one, other] = [
    await codeOf(world, agent, { value: '111222', hosts: [domain] }),
    await codeOf(world, agent, { value: '333444', hosts: [domain] }),
  ]

  await world.tick(14 * 60 + 50)
  const early = await agent.post(path, { credential_id, ...otp(one) })
  await world.tick(11)
  const late = await agent.post(path, { credential_id, ...otp(other) })

  expect(early.status).toBe(200)
  expect(late).toMatchObject({ status: 404, body: { error: 'code_not_found' } })
})

test.each([
  ['another host', ['example.com']],
  ['a host that looks alike', ['27.0.0.1']],
  ['nowhere that is proven', []],
])('a code from %s is refused and not used up', async (_, from) => {
  const { agent, credential_id } = await user()
  const handle = await codeOf(world, agent, { value: '555666', hosts: from })
  const asked = shop.received.length

  const used = await agent.post(path, { credential_id, ...otp(handle) })

  expect(used).toMatchObject({ status: 403, body: { error: 'code_not_for_site' } })
  expect(shop.received).toHaveLength(asked)
  expect(await usedAt(agent, handle)).toBe(false)
})

test("a stranger's code, an unknown and a used one are answered alike", async () => {
  const { agent, credential_id } = await user()
  const strangers = await codeOf(world, await world.agent('vault'), {
    value: '123123',
    hosts: [domain],
  })
  const used = await codeOf(world, agent, { value: '456456', hosts: [domain] })
  await agent.post(path, { credential_id, ...otp(used) })

  const bodies = []
  for (const handle of [strangers, 'c_000000000000', used]) {
    const { body } = await agent.post(path, { credential_id, ...otp(handle) })
    bodies.push({ ...body, request_id: '' })
  }

  expect(bodies).toMatchObject([{ error: 'code_not_found' }, bodies[0], bodies[0]])
})

test('where one code is refused, the others are not used up', async () => {
  const { agent, credential_id } = await user()
  const good = await codeOf(world, agent, { value: '777888', hosts: [domain] })
  const foreign = await codeOf(world, agent, { value: '999000', hosts: ['example.com'] })

  const answers = [
    await agent.post(path, { credential_id, ...otp(good, foreign) }),
    await agent.post(path, { credential_id, ...otp(good, 'c_000000000000') }),
    await agent.post(path, { credential_id, ...otp(good), path: undefined }),
    await agent.post(path, { credential_id, ...opening(good) }),
    await agent.post(path, { credential_id, ...otp(good) }),
  ]

  expect(answers.map(({ body }) => body['error'])).toEqual([
    'code_not_for_site',
    'code_not_found',
    'template_refused',
    'template_refused',
    undefined,
  ])
})

test('a sign-in link is opened once, at its own path, and comes back nowhere', async () => {
  const { agent, credential_id } = await user()
  const value = `${site}/in/canary-9f8e7d6c5b4a?otp=604918&type=signup#x`
  const handle = await codeOf(world, agent, { value, hosts: [domain], kind: 'link' })

  const opened = await agent.post(path, { credential_id, ...opening(handle) })
  const again = await agent.post(path, { credential_id, ...opening(handle, 'POST') })

  expect(shop.received.at(-1)?.url).toBe('/in/canary-9f8e7d6c5b4a?otp=604918&type=signup')
  expect(opened).toMatchObject({ status: 200, body: { response: { status: 200, body: '' } } })
  expect(again).toMatchObject({ status: 404, body: { error: 'code_not_found' } })
  const { body } = await (await agent.withKey('read')).get('/wallet-activity-list')
  expect(JSON.stringify([body, opened, world.log])).not.toMatch(/canary|604918/)
  expect(JSON.stringify(body)).toContain('GET a sign-in link')
})

test('a link that leads elsewhere is not opened and not used up', async () => {
  const { agent, credential_id } = await user()
  const asked = shop.received.length
  const other = site.replace(domain, 'localhost')
  for (const value of [`${other}/in/1`, `${site}@localhost/in/1`, `${site}1/in`, 'no link']) {
    const handle = await codeOf(world, agent, { value, hosts: [domain], kind: 'link' })

    const opened = await agent.post(path, { credential_id, ...opening(handle) })

    expect(opened, value).toMatchObject({ status: 422, body: { error: 'template_refused' } })
    expect(await usedAt(agent, handle)).toBe(false)
  }
  expect(shop.received).toHaveLength(asked)
})
