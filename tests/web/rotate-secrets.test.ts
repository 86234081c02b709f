/** Secrets are replaced while isolates with the value before and the value after answer side by side. */
import { expect, test } from 'vitest'
import { hashPassword } from '../../shared/auth/password.ts'
import { openOutboxMail, sealForOutbox } from '../../shared/mail/outbox.ts'
import { confirmCode, requestSignup } from '../../shared/onboarding/signup.ts'
import type { World } from '../../shared/world.ts'
import { openBrowser } from '../support/browserless.ts'
import { openPerson, type Person } from '../support/person.ts'
import { randomBytes } from '../support/seed.ts'
import { mailRows, newClient } from '../support/sign-up.ts'
import { start } from '../support/world.ts'

const world = await start()
const { sql } = world.db
const login = '/web/login'
const page = '/web/security/mail-address'
const [old, young] = [randomBytes(32).toString('base64'), randomBytes(32).toString('base64')]
const stages = [old, `${old} ${young}`, `${young} ${old}`, young].map(isolateWith)
/** Isolates that exist at the same time: those of a stage and those that replace them. */
const pairs = stages.flatMap((to, at) => {
  const from = stages[at - 1]
  return from ? [[from, to] as const, [to, from] as const] : []
})

function isolateWith(secret: string): World {
  const secrets = { PASSWORD_PEPPER: secret, OTP_PEPPER: secret, OUTBOX_KEY: secret }
  return { ...world.world, config: { ...world.world.config, ...secrets } }
}

/** Reads, as this isolate, the code of the newest mail to an address. */
async function codeAt(isolate: World, email: string): Promise<string> {
  const rows = mailRows.parse([
    ...(await sql`select id, to_address as to, sealed from private.outbox
      where to_address = ${email} order by created_at desc limit 1`),
  ])
  const [letter] = await Promise.all(rows.map((row) => openOutboxMail(isolate, row)))
  return /\b\d{6}\b/.exec(letter?.text ?? '')?.[0] ?? ''
}

async function personOf(isolate: World): Promise<Person> {
  const person = await openPerson(world)
  await sql`update private.owners set password_hash = ${hashPassword(isolate, person.password)}
    where account = ${person.agent.id}`
  return person
}

async function signIn(isolate: World, { email, password }: Person) {
  const browser = openBrowser({ world: isolate })
  await browser.visit(login)
  expect((await browser.submit({ email, password }, login)).status).toBe(200)
  expect([...browser.cookies.keys()]).toContain('__Host-aoa_session')
  return browser
}

test.each(pairs)(
  'what one isolate made before and during a replacement, another reads (%#)',
  async (made, read) => {
    const person = await personOf(made)
    const [fresh, wanted] = [`fresh-${person.email}`, `new-${person.email}`]
    const client = String(newClient()['cf-connecting-ip'])

    await requestSignup({ world: made, client }, { email: fresh })
    const code = await codeAt(read, fresh)
    const confirmed = await confirmCode({ world: read, client }, { email: fresh, code })

    const reader = await signIn(read, person)
    const asker = openBrowser({ world: made })
    for (const [name, value] of reader.cookies) asker.cookies.set(name, value)
    await asker.visit(page)
    await asker.submit({ email: wanted }, page)
    await reader.visit(page)
    const pending = await reader.submit({ code: await codeAt(read, wanted) }, page)

    expect(confirmed).toHaveProperty('registrationUrl')
    expect(pending.text).toContain('Your email address changes')
  },
)

test('a sign-in during the replacement stores the password under the new secret alone', async () => {
  const [before, , during, after] = stages
  if (!before || !during || !after) throw new Error('four stages are needed')
  const person = await personOf(before)

  await signIn(during, person)

  await signIn(after, person)
  await expect(signIn(before, person)).rejects.toThrow()
})

test('once a secret is replaced, what only the old one made is refused', async () => {
  const [before, , , after] = stages
  if (!before || !after) throw new Error('four stages are needed')
  const client = String(newClient()['cf-connecting-ip'])
  const email = 'late@people.example'
  await requestSignup({ world: before, client }, { email })
  const code = await codeAt(before, email)
  const mail = await sealForOutbox(before, {
    to: email,
    topic: 'notice',
    subject: 'Old',
    text: 'Old',
    html: 'Old',
  })

  const late = await confirmCode({ world: after, client }, { email, code })

  expect(late).not.toHaveProperty('registrationUrl')
  await expect(openOutboxMail(after, { ...mail, to: email })).rejects.toThrow()
})
