import { expect, test } from 'vitest'
import { deliverMail } from '../../shared/mail/deliver.ts'
import type { Message } from '../../shared/mail/letter.ts'
import { openOutboxMail, sealForOutbox } from '../../shared/mail/outbox.ts'
import type { Failure, MailTransport, Outgoing } from '../../shared/mail/port.ts'
import { signUpCode } from '../../shared/mail/sign-up-messages.ts'
import { randomBytes } from '../support/seed.ts'
import { start } from '../support/world.ts'

const aoa = await start()
const { world, db } = aoa
const canary = '482913-canary'
const message = signUpCode({ code: canary, minutes: 10 })

function newAddress(): string {
  return `${randomBytes(6).toString('hex')}@people.example`
}

type Order = { to?: string; account?: string; message?: Message }

async function enqueue({ to, account, message: other = message }: Order) {
  const mail = await sealForOutbox(world, { ...other, ...(to ? { to } : {}) })
  await db.sql`select private.enqueue_mail(${account ?? null}, ${db.sql.json(mail)})`
  return mail
}

async function row(id: string) {
  const [found] = await db.sql`select * from private.outbox where id = ${id}`
  return found
}

/** Returns a mail transport that accepts mails, or fails with a reason, and records them. */
function carrier(failure?: Failure | Error) {
  const seen: Outgoing[] = []
  const send: MailTransport = (mail) => {
    seen.push(mail)
    return failure instanceof Error ? Promise.reject(failure) : Promise.resolve(failure)
  }
  return { send, to: (address: string) => seen.filter((mail) => mail.to === address) }
}

test('a mail arrives as it was written, from the service, and asks for no automatic reply', async () => {
  const to = newAddress()
  const { id } = await enqueue({ to })

  const [mail, ...others] = await aoa.mails(to)

  expect(others).toEqual([])
  expect(mail).toMatchObject({ subject: message.subject, from: 'no-reply@notices.example' })
  expect([mail?.text.replaceAll('\r', ''), mail?.html.replaceAll('\r', '')]).toEqual([
    message.text,
    message.html,
  ])
  expect(mail?.headers).toMatchObject({
    'message-id': `<${id}@agents.example>`,
    'auto-submitted': 'auto-generated',
  })
})

test('what a mail says is never in the database', async () => {
  const { id } = await enqueue({ to: newAddress() })

  const [stored] = await db.sql`select m::text as text from private.outbox m where id = ${id}`

  expect(stored?.['text']).toContain(id)
  expect(stored?.['text']).not.toContain('canary')
})

test('a mail that was sent leaves no text behind', async () => {
  const to = newAddress()
  const { id } = await enqueue({ to })

  await aoa.mails(to)

  const sent = await row(id)
  expect(sent).toMatchObject({ sealed: null, gave_up_at: null, failed_reason: null })
  expect(sent?.['sent_at']).toBeInstanceOf(Date)
})

test('a sealed mail opens for no other address and under no other id', async () => {
  const mail = await sealForOutbox(world, { ...message, to: newAddress() })

  await expect(openOutboxMail(world, { ...mail, to: 'eve@evil.example' })).rejects.toThrow()
  await expect(openOutboxMail(world, { ...mail, id: world.newId() })).rejects.toThrow()
  expect(await openOutboxMail(world, mail)).toMatchObject({ text: message.text })
})

test('two mailers at once send each mail once', async () => {
  const addresses = Array.from({ length: 12 }, newAddress)
  for (const to of addresses) await enqueue({ to })
  const { send, to } = carrier()

  await Promise.all([deliverMail(world, send), deliverMail(world, send), deliverMail(world, send)])

  expect(addresses.map((address) => to(address).length)).toEqual(addresses.map(() => 1))
})

test('a mail of a mailer that vanished is sent by a later one, under the same id', async () => {
  const to = newAddress()
  const { id } = await enqueue({ to })
  await db.sql`select * from api.mailer_claim(100)`
  const next = carrier()

  await deliverMail(world, next.send)
  expect(next.to(to)).toEqual([])
  await aoa.tick(61)
  await deliverMail(world, next.send)

  expect(next.to(to)).toMatchObject([{ id }])
})

test('a mail is tried ten times in some hours, is the same each time, and is then given up', async () => {
  const to = newAddress()
  const { id } = await enqueue({ to })
  const broken = carrier(new Error(`connection reset while sending to ${to}`))

  for (let hour = 0; hour < 14; hour += 1) {
    await deliverMail(world, broken.send)
    await aoa.tick(3_601)
  }

  const tries = broken.to(to)
  expect(tries).toHaveLength(10)
  expect(new Set(tries.map((mail) => JSON.stringify(mail))).size).toBe(1)
  const given = await row(id)
  expect(given).toMatchObject({ tries: 10, sent_at: null, sealed: null })
  expect(given?.['failed_reason']).toBe('Error: connection reset while sending to the recipient')
  expect(JSON.stringify(aoa.log)).not.toContain(to)
})

test('a mail that is refused for good is not tried again', async () => {
  const to = newAddress()
  const { id } = await enqueue({ to })
  const refusing = carrier({ reason: '550 no such mailbox', forGood: true, outage: false })

  await deliverMail(world, refusing.send)
  await aoa.tick(7_200)
  await deliverMail(world, refusing.send)

  expect(refusing.to(to)).toHaveLength(1)
  expect(await row(id)).toMatchObject({ sealed: null, failed_reason: '550 no such mailbox' })
})

test('a notice goes to whoever owns the account when it is sent, and to nobody without an owner', async () => {
  const [owned, ownerless] = [await aoa.agent('read'), await aoa.agent('read')]
  const email = newAddress()
  await db.sql`insert into private.owners (account, email) values (${owned.id}, ${email})`

  await enqueue({ account: owned.id })
  const nobody = await enqueue({ account: ownerless.id })

  expect(await aoa.mails(email)).toHaveLength(1)
  expect(await row(nobody.id)).toBeUndefined()
})

test('what an agent can cause reaches the owner only so many times an hour', async () => {
  const { id: account } = await aoa.agent('read')
  const email = newAddress()
  await db.sql`insert into private.owners (account, email) values (${account}, ${email})`

  const ask = (topic = 'mandate_wanted') => enqueue({ account, message: { ...message, topic } })
  const subjects = async () => (await aoa.mails(email)).map(({ subject }) => subject)

  for (let time = 0; time < 8; time += 1) await ask()
  await ask('approval_wanted')
  expect(await subjects()).toHaveLength(7)

  await aoa.tick(3_601)
  await ask()
  expect((await subjects()).slice(7).toSorted()).toEqual([
    '2 more notices: A mandate is waiting for you',
    message.subject,
  ])
})

test('two mails at once do not both find the last room that there is', async () => {
  const { id: account } = await aoa.agent('read')
  const email = newAddress()
  await db.sql`insert into private.owners (account, email) values (${account}, ${email})`
  const wanted = { ...message, topic: 'mandate_wanted' }
  for (let time = 0; time < 5; time += 1) await enqueue({ account, message: wanted })
  const mail = await sealForOutbox(world, wanted)

  const second = await db.sql.begin(async (first) => {
    await first`select private.enqueue_mail(${account}, ${first.json(mail)})`
    const enqueued = enqueue({ account, message: wanted })
    // A transaction keeps its first picture of who is connected.
    const waits = async () => {
      await first`select pg_stat_clear_snapshot()`
      return first`select from pg_locks l join pg_stat_activity a using (pid)
        where not l.granted and a.datname = current_database()`
    }
    await expect.poll(async () => (await waits()).length, { interval: 5 }).toBeGreaterThan(0)
    return { enqueued }
  })
  await second.enqueued

  expect(await aoa.mails(email)).toHaveLength(6)
})
