/** The mail address changes 72 hours after a code from the new mailbox was entered, unless somebody stops it. */
import { beforeEach, expect, test } from 'vitest'
import { runHousekeeping } from '../../shared/payments/settle/housekeeping.ts'
import { type Browser, openBrowser } from '../support/browserless.ts'
import { feedOf, ownerOf } from '../support/owner.ts'
import { openPerson, type Person, signInAs } from '../support/person.ts'
import { byCode, makeCodes, post } from '../support/ways-in.ts'
import { start } from '../support/world.ts'

const world = await start()
const { sql } = world.db
const page = '/web/security/mail-address'
const hour = 3_600
let person: Person
let browser: Browser
let wanted = ''
beforeEach(async () => {
  person = await openPerson(world)
  browser = await signInAs(world, person)
  wanted = `new-${person.email}`
})

async function ask(email: string, by = browser) {
  await by.visit(page)
  return by.submit({ email }, page)
}

/** Returns the codes that a mailbox got, the newest last. */
async function codesAt(email: string): Promise<string[]> {
  const mails = await world.mails(email)
  return mails.flatMap(({ text }) => text.match(/\b\d{6}\b/) ?? [])
}

async function subjectsAt(email: string): Promise<string[]> {
  return (await world.mails(email)).map(({ subject }) => subject)
}

const enter = (code = '') => browser.submit({ code }, page)

/** Asks for the new address and enters its code. */
async function confirm() {
  await ask(wanted)
  return enter((await codesAt(wanted)).at(-1))
}

async function addressNow(): Promise<string> {
  await runHousekeeping(world.world)
  const [row] = await sql`select email from private.owners where account = ${person.agent.id}`
  return String(row?.['email'])
}

async function changes() {
  return sql`select from private.mail_changes where account = ${person.agent.id}`
}

async function unfreeze() {
  await (await ownerOf(world, person.agent)).unfreeze()
}

test('a code from the new mailbox changes the address 72 hours later, and both are told each time', async () => {
  const asked = await ask(wanted)
  expect([asked.status, asked.path]).toEqual([200, page])
  expect(await subjectsAt(person.email)).toContain('A change of your email address was requested')
  expect((await changes()).length).toBe(1)

  const pending = await enter((await codesAt(wanted)).at(-1))
  expect(pending.text).toContain('Your email address changes')
  expect((await browser.visit('/web/security')).text).toContain(`replaced by ${wanted}`)
  expect(await subjectsAt(person.email)).toContain('Your email address changes in 72 hours')
  expect(await subjectsAt(wanted)).toContain('This will be the email address of your account')

  await world.tick(72 * hour - 60)
  expect(await addressNow()).toBe(person.email)
  await expect(signInAs(world, { ...person, email: wanted })).rejects.toThrow('not let in')
  await signInAs(world, person)

  await world.tick(61)
  expect(await addressNow()).toBe(wanted)
  await expect(signInAs(world, person)).rejects.toThrow('not let in')
  const inside = await signInAs(world, { ...person, email: wanted })
  expect((await inside.visit('/web/security')).text).toContain(wanted)
  for (const told of [person.email, wanted]) {
    expect(await subjectsAt(told)).toContain('Your email address was changed')
  }
  expect(await feedOf(world.db, person.agent)).toEqual(
    expect.arrayContaining([
      'mail_address_asked',
      'mail_address_confirmed',
      'mail_address_changed',
    ]),
  )
})

test('any session stops it with one press, without a proof', async () => {
  await confirm()
  await world.tick(71 * hour)
  const other = await signInAs(world, person)
  await world.tick(11 * 60)

  await other.visit(page)
  const stopped = await other.submit({ deed: 'stop' }, page)
  await world.tick(hour)

  expect([stopped.path, stopped.text]).toEqual([
    '/web/security',
    expect.stringContaining('Stopped.'),
  ])
  expect(await addressNow()).toBe(person.email)
  expect(await subjectsAt(person.email)).toContain('The change of your email address was stopped')
})

test('it waits while the account is frozen', async () => {
  await confirm()
  await person.agent.post('/account-freeze', {})
  await world.tick(73 * hour)
  const frozen = await addressNow()

  await unfreeze()

  expect([frozen, await addressNow()]).toEqual([person.email, wanted])
})

test('a hold keeps it from taking effect, and the end of the hold drops it', async () => {
  await confirm()
  await sql`select private.begin_hold(${person.agent.id})`
  await world.tick(73 * hour)
  const onHold = await addressNow()
  const waiting = await changes()

  await signInAs(world, person)

  expect([onHold, waiting.length]).toEqual([person.email, 1])
  expect(await addressNow()).toBe(person.email)
  expect((await changes()).length).toBe(0)
})

test.each(['owner_secure', 'owner_end_hold'] as const)('%s drops it', async (name) => {
  await confirm()
  const owner = await ownerOf(world, person.agent)
  if (name === 'owner_end_hold') await sql`select private.begin_hold(${person.agent.id})`

  const args = { session_digest: 'd'.repeat(64), password_hash: 'another hash' }
  await owner.call(name, name === 'owner_secure' ? args : {})

  expect((await changes()).length).toBe(0)
})

test('an address of another account answers like any other, and its owner gets the mail of a sign-up', async () => {
  const other = await openPerson(world)
  const taken = other.email.replace('@', '+label@')
  const answers = []
  for (const email of [taken, wanted]) {
    const { status, path, text } = await ask(email)
    answers.push({ status, path, text: text.replaceAll(email, 'somebody') })
    const wrong = await enter('none')
    answers.push({ status: wrong.status, text: wrong.text.replaceAll(email, 'somebody') })
    await browser.submit({ deed: 'stop' }, page)
  }

  expect(answers.slice(0, 2)).toEqual(answers.slice(2))
  expect(await subjectsAt(taken)).toEqual(['You already have an account'])
  expect(await codesAt(taken)).toEqual([])
})

test('an address that got an account of its own meanwhile is not taken from it', async () => {
  const other = await openPerson(world)
  await confirm()
  await sql`update private.owners set email = ${wanted} where account = ${other.agent.id}`
  await world.tick(73 * hour)

  expect(await addressNow()).toBe(person.email)
  expect(await subjectsAt(person.email)).toContain('Your email address was not changed')
})

test('after five wrong codes the right one is refused as well', async () => {
  await ask(wanted)
  const [right = ''] = await codesAt(wanted)
  const tries = []
  for (let count = 0; count < 5; count += 1) tries.push((await enter('12')).status)

  const refused = await enter(right)

  expect([...tries, refused.status]).toEqual([422, 422, 422, 422, 422, 422])
  expect(refused.text).not.toContain('Your email address changes')
})

test('a code is good for an hour', async () => {
  await ask(wanted)
  const [right = ''] = await codesAt(wanted)
  await world.tick(hour + 1)
  browser = await signInAs(world, person)
  await browser.visit(page)

  expect((await post(browser, page, { code: right })).status).toBe(422)
})

test('a session without a fresh proof neither asks nor enters a code', async () => {
  await ask(wanted)
  const [right = ''] = await codesAt(wanted)
  await world.tick(601)

  const entered = await enter(right)
  await browser.visit(page)
  await browser.submit({ deed: 'stop' }, page)
  const asked = await post(browser, page, { email: wanted })

  expect(entered.path).toContain('/web/proof')
  expect(asked.headers.get('location')).toContain('/web/proof')
  expect((await changes()).length).toBe(0)
})

test('a session that a recovery code opened begins no change', async () => {
  const [code] = await makeCodes(browser)
  const found = await byCode(world, person, code)

  const shown = await found.visit(page)
  const asked = await post(found, page, { email: wanted })

  expect([shown.path, asked.status]).toEqual(['/web/hold', 403])
  expect((await changes()).length).toBe(0)
})

test('a code that went out for one account confirms nothing in another', async () => {
  const other = await openPerson(world)
  await ask(wanted, await signInAs(world, other))
  const [theirs] = await codesAt(wanted)
  await ask(wanted)

  expect((await enter(theirs)).status).toBe(422)
  expect((await enter((await codesAt(wanted)).at(-1))).status).toBe(200)
})

test('a mailbox gets three codes at once, whoever asks for them', async () => {
  const people = await Promise.all([1, 2, 3].map(() => openPerson(world)))
  for (const one of people) await ask(wanted, await signInAs(world, one))

  expect((await ask(wanted)).status).toBe(429)
  expect(await codesAt(wanted)).toHaveLength(3)
})

test.each([
  ['its own address', () => person.email, 'already'],
  ['a mailbox of agents', () => `${person.agent.alias}@agents.example`, 'Agents read'],
  ['what is no address', () => 'nobody', 'not a valid email address'],
])('%s is refused beside the field', async (_, email, words) => {
  const answer = await ask(email())

  expect([answer.status, answer.text]).toEqual([422, expect.stringContaining(words)])
  expect((await changes()).length).toBe(0)
})

test('whoever is not signed in comes to the sign-in', async () => {
  expect((await openBrowser(world).visit(page)).path).toContain('/web/login')
})
