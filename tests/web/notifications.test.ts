/** The owner chooses what to be told of, and notices reach the chosen browsers, each of them alone. */
import { beforeAll, expect, test } from 'vitest'
import { type Browser, openBrowser, signedIn } from '../support/browserless.ts'
import { openPerson, signInAs } from '../support/person.ts'
import { openPushService } from '../support/pushes.ts'
import { type Agent, start, type TestWorld } from '../support/world.ts'

const path = '/web/notifications'
let world: TestWorld
beforeAll(async () => {
  world = await start({ chain: true })
})

type Keys = { endpoint: string; p256dh: string; auth: string }

/** Returns an owner's browser with its push service, and a way to add a subscription on the page. */
async function home(answers?: number[]) {
  const person = await openPerson(world, 100)
  const browser = await signedIn(world, person.agent)
  const service = await openPushService(world, answers)
  return { ...person, browser, service, deliver: () => world.mails(person.email) }
}

/** Sends the form that a script fills in with the subscription of its browser. */
async function add(browser: Browser, keys: Keys) {
  const { html } = await browser.visit(path)
  const [, form = ''] = /data-push-key.*?name="form" value="([^"]+)"/s.exec(html) ?? []
  const body = new URLSearchParams({ form, wanted: 'added', ...keys })
  return browser.send(path, { method: 'POST', body, headers: { origin: 'http://localhost' } })
}

async function askToApprove(agent: Agent) {
  const payee = await world.agent('read')
  const order = { recipient: payee.alias, chain: 'base-sepolia', token: 'USDC', amount: '20.5' }
  const { body } = await agent.post('/wallet-custodial-transfer', order)
  return { payee, transfer: String(body['transfer_id']) }
}

const devicesOf = ({ id }: Agent) =>
  world.db.sql`select label from private.push_devices where account = ${id}`

test('a request to approve reaches the browser with amount, payee, agent and link, for it alone', async () => {
  const { agent, browser, service, deliver } = await home()
  const [mine, theirs] = [service.subscribe(), service.subscribe()]
  const added = await add(browser, mine.keys)

  const { payee, transfer } = await askToApprove(agent)
  await deliver()
  await deliver()

  expect(added.status).toBe(303)
  expect(mine.pushes()).toEqual([
    {
      title: `Approve 20.5 USDC to ${payee.alias}?`,
      body: 'Requested by: full',
      url: `http://localhost/web/approve/${transfer}`,
      tag: transfer,
    },
  ])
  expect(theirs.pushes()).toEqual([])
  expect(service.received.map(({ headers }) => headers['urgency'])).toEqual(['high'])
})

test('a browser that its push service has forgotten is removed, and others go on', async () => {
  const { agent, browser, service, deliver } = await home()
  const away = await openPushService(world, [410])
  const [gone, here] = [away.subscribe(), service.subscribe()]
  await add(browser, gone.keys)
  await add(browser, here.keys)
  await deliver()

  await askToApprove(agent)
  await deliver()

  expect([gone.pushes().length, here.pushes().length]).toEqual([1, 1])
  expect(await devicesOf(agent)).toHaveLength(1)
})

test('a push that its service could not take is sent again, and the mail is not', async () => {
  const { agent, browser, service, email, deliver } = await home([503, 201])
  const mine = service.subscribe()
  await add(browser, mine.keys)

  await askToApprove(agent)
  await deliver()
  await world.tick(61)
  await deliver()

  const [first, second, ...more] = mine.pushes()
  expect([second, more]).toEqual([first, []])
  const subjects = (await world.mails(email)).map(({ subject }) => subject)
  expect(subjects.filter((subject) => subject.startsWith('Approve'))).toHaveLength(1)
})

test('a browser whose push service fails three times in a row is removed, with all that waits for it', async () => {
  const { agent, browser, service, deliver } = await home([503, 201, 503])
  const mine = service.subscribe()
  await add(browser, mine.keys)
  const left: number[] = []
  await askToApprove(agent)

  for (let minutes = 0; minutes < 8; minutes += 1) {
    await deliver()
    await world.tick(61)
    if (minutes === 2) await askToApprove(agent)
    left.push((await devicesOf(agent)).length)
  }

  expect(left).toEqual([1, 1, 1, 1, 1, 1, 0, 0])
  expect(mine.pushes()).toHaveLength(5)
})

test('a kind that the owner does not want by mail comes as a notification alone, and once', async () => {
  const { agent, browser, service, email, deliver } = await home()
  const mine = service.subscribe()
  await add(browser, mine.keys)
  await browser.visit(path)
  const form = { wanted: 'chosen', 'push:approvals': 'yes', 'push:security': 'yes' }
  const body = new URLSearchParams({ form: ownFormOf(await browser.visit(path)), ...form })
  await browser.send(path, { method: 'POST', body, headers: { origin: 'http://localhost' } })

  await askToApprove(agent)
  await agent.post('/account-freeze', {})
  await deliver()

  expect(
    mine
      .pushes()
      .map(({ title }) => title.slice(0, 20))
      .toSorted(),
  ).toEqual(['Approve 20.5 USDC to', 'Your account is froz'])
  const subjects = (await world.mails(email)).map(({ subject }) => subject)
  expect(subjects.toSorted()).toEqual([
    'A browser now receives your notifications',
    'Your account is frozen',
  ])
})

function ownFormOf({ html }: { html: string }): string {
  return /name="form" value="([^"]+)"/.exec(html)?.[1] ?? ''
}

test('a browser is added after a proof alone, told by mail, and removed on the page', async () => {
  const person = await openPerson(world)
  const browser = await signInAs(world, person)
  const service = await openPushService(world)
  await world.tick(601)

  const unproven = await browser.visit(path)
  const form = ownFormOf(unproven)
  const post = (fields: Record<string, string>) =>
    browser.send(path, {
      method: 'POST',
      body: new URLSearchParams({ form, ...fields }),
      headers: { origin: 'http://localhost' },
    })
  const refused = await post({ wanted: 'added', ...service.subscribe().keys })
  await browser.visit(`/web/proof?next=${encodeURIComponent(path)}`)
  await browser.submit({ password: person.password }, '/web/proof')
  await add(browser, service.subscribe().keys)
  const [before, { html }] = [await devicesOf(person.agent), await browser.visit(path)]
  const [, device = ''] = /name="device" value="([^"]+)"/.exec(html) ?? []
  await browser.send(path, {
    method: 'POST',
    body: new URLSearchParams({ form: ownFormOf({ html }), wanted: 'removed', device }),
    headers: { origin: 'http://localhost' },
  })

  expect(unproven.text).toContain('Confirm it’s you to add this browser')
  expect(refused.headers.get('location')).toContain('/web/proof')
  expect([before.length, await devicesOf(person.agent)]).toEqual([1, []])
  const told = (await world.mails(person.email)).map(({ subject }) => subject)
  expect(told).toContain('A browser now receives your notifications')
})

test.each([
  'https://127.0.0.2/push',
  'https://push.internal/push',
  'http://push.example.com/push',
  'https://push.example.com:8443/push',
  'https://user@push.example.com/push',
])('no push goes to %s', async (endpoint) => {
  const { agent, browser, service } = await home()

  const { status } = await add(browser, { ...service.subscribe().keys, endpoint })

  expect([status, await devicesOf(agent)]).toEqual([400, []])
})

test('a key that is no point of the curve is refused at once', async () => {
  const { agent, browser, service } = await home()

  const odd = { ...service.subscribe().keys, p256dh: `B${'A'.repeat(86)}` }
  const { status } = await add(browser, odd)

  expect([status, await devicesOf(agent)]).toEqual([400, []])
})

test('an account has ten browsers at most, and one that subscribes again counts once', async () => {
  const { agent, browser, service } = await home()
  const [first, ...others] = Array.from({ length: 11 }, () => service.subscribe().keys)
  if (!first) throw new Error('there is no first one')

  const statuses: number[] = []
  for (const keys of [first, first, ...others]) statuses.push((await add(browser, keys)).status)

  expect(statuses).toEqual([...Array.from({ length: 11 }, () => 303), 400])
  expect(await devicesOf(agent)).toHaveLength(10)
})

test('the test arrives, and reaches nobody else', async () => {
  const [one, other] = [await home(), await home()]
  const [mine, theirs] = [one.service.subscribe(), other.service.subscribe()]
  await add(one.browser, mine.keys)
  await add(other.browser, theirs.keys)
  const form = ownFormOf(await one.browser.visit(path))

  await one.browser.send(path, {
    method: 'POST',
    body: new URLSearchParams({ form, wanted: 'tested' }),
    headers: { origin: 'http://localhost' },
  })
  await one.deliver()

  expect(mine.pushes().map(({ title }) => title)).toEqual(['Notifications arrive here'])
  expect(theirs.pushes()).toEqual([])
})

test('without a key of the operator the page says that notifications are off', async () => {
  const { browser } = await home()
  const { config } = world.world
  world.world = { ...world.world, config: { ...config, VAPID_PUBLIC_KEY: '' } }
  const visitor = openBrowser(world)
  for (const [name, value] of browser.cookies) visitor.cookies.set(name, value)

  const { text, html } = await visitor.visit(path)
  world.world = { ...world.world, config }

  expect(text).toContain('Notifications are off')
  expect(html).not.toContain('data-push-key')
})

test('the app can be installed, and one page alone may register its worker', async () => {
  const { browser } = await home()

  const manifest = await browser.send('/web/manifest.webmanifest')
  const worker = await browser.send('/web/push-worker.js')
  const policies = await Promise.all(
    [path, '/web'].map(async (page) => {
      const { headers } = await browser.send(page)
      return headers.get('content-security-policy') ?? ''
    }),
  )

  expect(JSON.parse(manifest.html)).toMatchObject({ start_url: '/web', display: 'standalone' })
  expect(worker.headers.get('content-type')).toContain('text/javascript')
  expect(worker.headers.get('cache-control')).toBe('no-cache')
  expect(policies.map((policy) => policy.includes('trusted-types worker'))).toEqual([true, false])
})
