/** However much an agent causes, its owner gets a bounded number of mails and learns what was left out. */
import { beforeAll, expect, test } from 'vitest'
import * as access from '../../shared/mail/access-messages.ts'
import type { Message } from '../../shared/mail/letter.ts'
import * as money from '../../shared/mail/money-messages.ts'
import { sealForOutbox } from '../../shared/mail/outbox.ts'
import { topicNames } from '../../shared/mail/waiting-message.ts'
import { loginOf, owned, seed } from '../support/vault.ts'
import { type Agent, start, type TestWorld } from '../support/world.ts'

let world: TestWorld
beforeAll(async () => {
  world = await start()
})

/** Topics of acts that only the owner does in a session, or somebody who signs in as the owner. */
const ofTheOwner = [
  'account_secured',
  'account_unfrozen',
  'app_connected',
  'app_raised',
  'codes_readable',
  'hold_ended',
  'limits_raised',
  'mandate_approved',
  'money_sent',
  'new_api_key',
  'new_passkey',
  'new_push_device',
  'new_sign_in',
  'notification_test',
  'passkey_removal_begun',
  'passkey_removed',
  'password_changed',
  'recipient_trusted',
  'recovery_begun',
  'recovery_codes_made',
  'recovery_used',
  'secrets_readable',
]

const firstUse = 'A login from your vault was used at a new site'

/** Returns the topics of all mails to owners, as their modules name them. */
function allTopics(): string[] {
  const snake = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  const modules = [access, money]
  return modules
    .flatMap((module) => Object.entries(module))
    .flatMap(([name, value]) => (typeof value === 'function' ? [snake(name)] : []))
}

async function hourlyMax(topic: string): Promise<number | null> {
  const [row] = await world.db.sql<{ most: number | null }[]>`
    select private.hourly_max(${topic}) as most`
  return row?.most ?? null
}

async function enqueue({ id }: Agent, topic: string) {
  const message: Message = { topic, subject: topic, text: 'x', html: 'x' }
  const mail = await sealForOutbox(world.world, message)
  await world.db.sql`select private.enqueue_mail(${id}, ${world.db.sql.json(mail)})`
}

/** Uses a secret at a site with a key that is new to it. */
async function useAt(agent: Agent, site: string) {
  await world.db.sql`delete from private.rate_buckets`
  const credential_id = await loginOf(agent, { site, totp_secret: seed })
  const use = () => agent.post('/vault-totp', { credential_id })
  expect(await use()).toMatchObject({ status: 200 })
  return use
}

test('each topic is bounded, or of the owner alone', async () => {
  const unbounded: string[] = []
  for (const topic of allTopics()) {
    if ((await hourlyMax(topic)) === null) unbounded.push(topic)
  }

  expect(unbounded.toSorted()).toEqual(ofTheOwner)
})

test('of each bounded topic so many are sent an hour, however many come at once, and the rest is told', async () => {
  const topics = allTopics().filter((topic) => !ofTheOwner.includes(topic))
  const agent = await world.agent('read')
  const told = await owned(world, agent)

  await Promise.all(
    topics.flatMap((topic) => Array.from({ length: 24 }, () => enqueue(agent, topic))),
  )

  const sent = await told()
  for (const topic of topics) {
    const most = (await hourlyMax(topic)) ?? 0
    expect(
      sent.filter((one) => one === topic),
      topic,
    ).toHaveLength(most)
    expect(most).toBeLessThanOrEqual(20)
  }
  await world.tick(3_599)
  expect(await told()).toHaveLength(sent.length)
  await world.tick(2)
  const more = await Promise.all(topics.map(async (topic) => 24 - ((await hourlyMax(topic)) ?? 0)))
  const subjects = topics.map((topic, at) => `${more[at]} more notices: ${topicNames[topic]}`)
  expect((await told()).slice(sent.length).toSorted()).toEqual(subjects.toSorted())
  expect(Object.keys(topicNames).toSorted()).toEqual(topics.toSorted())
})

test("a bank's site after twenty junk ones is told by number as soon as the hour allows, and by name at its next use", async () => {
  const agent = await world.agent('vault')
  const email = `${agent.alias}@owner.example`
  await world.db.sql`insert into private.owners (account, email) values (${agent.id}, ${email})`
  for (let at = 0; at < 20; at += 1) await useAt(agent, `https://junk${at}.example.com`)
  const useBank = await useAt(agent, 'https://bank.example.com')
  await useBank()
  const mails = async () => (await world.mails(email)).map((mail) => mail)
  expect((await mails()).map((mail) => mail.subject)).toEqual(Array(20).fill(firstUse))

  await world.tick(3_601)

  const digest = (await mails()).slice(20)
  expect(digest.map((mail) => mail.subject)).toEqual([
    '2 more notices: A login was used at a new site',
  ])
  expect(digest[0]?.text).toMatch(
    /^2 more notices of this kind since \d{4}-\d\d-\d\d \d\d:\d\d UTC\./,
  )
  expect(digest[0]?.text).not.toContain('bank')
  await useBank()
  const [named, ...others] = (await mails()).slice(21)
  expect(named).toMatchObject({ subject: firstUse })
  expect(named?.text).toContain('bank[.]example[.]com')
  await useBank()
  expect(others).toEqual([])
  expect(await mails()).toHaveLength(22)
})

/** Returns the numbers in the mails about notices that waited. */
async function numbersIn(told: () => Promise<string[]>): Promise<number[]> {
  const found = (await told()).map((one) => /^(\d+) more notices?:/.exec(one)?.[1])
  return found.flatMap((one) => (one === undefined ? [] : [Number(one)]))
}

test('who goes on flooding holds back no number, and gets no more mails sent than the hour allows', async () => {
  const agent = await world.agent('read')
  const told = await owned(world, agent)
  const sent: number[] = []

  for (let minute = 0; minute < 180; minute += 1) {
    await world.tick(60)
    for (let at = 0; at < 2; at += 1) await enqueue(agent, 'mandate_wanted')
    sent.push((await told()).length)
  }

  for (let minute = 60; minute < 180; minute += 1) {
    expect((sent[minute] ?? 0) - (sent[minute - 60] ?? 0)).toBeLessThanOrEqual(6)
  }
  const numbers = await numbersIn(told)
  const waiting = await waitingOf(agent)
  const counted = numbers.reduce((sum, number) => sum + number, 0) + (waiting[0]?.notices ?? 0)
  expect(numbers.length).toBeGreaterThanOrEqual(2)
  expect((await told()).length - numbers.length + counted).toBe(360)
})

/** Returns the rows of notices that wait. */
function waitingOf({ id }: Agent) {
  return world.db.sql<{ topic: string; notices: number }[]>`
    select topic, notices from private.waiting_notices where account = ${id}`
}

test('of several mailers one tells', async () => {
  const agent = await world.agent('read')
  const told = await owned(world, agent)
  for (let at = 0; at < 8; at += 1) await enqueue(agent, 'login_entered')
  await world.tick(3_601)

  await Promise.all([told(), told(), told()])

  expect(await numbersIn(told)).toEqual([2])
  expect(await waitingOf(agent)).toHaveLength(0)
})

test('what is counted while the mail is written waits on', async () => {
  const agent = await world.agent('read')
  const told = await owned(world, agent)
  for (let at = 0; at < 8; at += 1) await enqueue(agent, 'login_entered')
  const [row] = await world.db.sql<{ since: string }[]>`
    select since::text from private.waiting_notices where account = ${agent.id}`
  await enqueue(agent, 'login_entered')
  await world.tick(3_601)

  const message: Message = { topic: 'login_entered', subject: 'two', text: 'x', html: 'x' }
  const send = async () =>
    world.world.db.call('mailer_send_waiting', {
      of_account: agent.id,
      since: row?.since ?? '',
      notices: 2,
      mail: await sealForOutbox(world.world, message),
    })
  const answers = [await send(), await send()]

  expect(answers).toEqual([true, false])
  expect([...(await waitingOf(agent))]).toEqual([{ topic: 'login_entered', notices: 1 }])
  expect(await numbersIn(told)).toEqual([1])
  expect(await told()).toHaveLength(8)
})
