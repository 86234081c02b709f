/** A password is changed by the form that a site serves, and neither password is lost. */
import { expect, test } from 'vitest'
import * as z from 'zod'
import type { ChangeAnswer, LoginPages, LoginSite } from '../support/login-site.ts'
import { openLoginSite } from '../support/login-site.ts'
import { textWith } from '../support/matching.ts'
import { letRead } from '../support/vault.ts'
import { approvePlace, entryOf } from '../support/vault-rows.ts'
import { start } from '../support/world.ts'

const world = await start()
const username = 'ada@mail.example'
const old = 'Canary-1 horse "battery"'

const login = `<form method="post" action="/login">{csrf}<input name="username">
  <input type="password" name="password"><button>Sign in</button></form>`
const fresh = ['new_password', 'new_password_confirmation']
const change = {
  form: `<form method="post" action="/password">{csrf}
    <input type="password" name="current_password" autocomplete="current-password">
    <input type="password" name="new_password" autocomplete="new-password">
    <input type="password" name="new_password_confirmation"></form>`,
  current: 'current_password',
  fresh,
}

async function signedIn(given: Partial<LoginPages> = {}) {
  const pages = { login, change, ...given }
  const site = await openLoginSite(pages, { username, password: old })
  const agent = await world.agent('full')
  const credential_id = await entryOf(world, agent, { site: site.origin, username, password: old })
  await letRead(world, agent, 'full')
  const { body } = await agent.post('/vault-login', { credential_id, path: '/login' })
  const step = (order: object) =>
    agent.post('/vault-session', { session: body['session'], ...order })
  const approve = (name: string, current = pages.change.current) => {
    const place = { kind: 'form', secret: 'new_password', path: '/password', name } as const
    const also = current === undefined ? [] : [{ name: current }]
    return approvePlace(world, credential_id, { ...place, also })
  }
  await step({ path: '/password' })
  const ask = (order: object = {}) => step({ form: 0, secret: 'new_password', ...order })
  const secret = async () => {
    const read = await agent.get(`/user-site-credentials?credential_id=${credential_id}`)
    return answered.parse(read.body).credentials[0].secret
  }
  return { site, agent, credential_id, step, ask, approve, secret }
}

const answered = z.object({
  credentials: z.tuple([
    z.object({
      secret: z.object({
        password: z.string(),
        new_password: z.string().optional(),
        previous_passwords: z.array(z.string()).optional(),
      }),
    }),
  ]),
})

function answering(site: LoginSite, how: ChangeAnswer) {
  site.answersChange = how
}

test('a new password is drawn, sent where the owner approved it once, and is the entry’s once it is taken', async () => {
  const { site, agent, credential_id, step, ask, approve, secret } = await signedIn()

  const asked = await ask()
  const untouched = await secret()
  await approve(fresh.join(' + '))
  const answer = await ask()
  const now = await secret()
  const home = await step({ path: '/home' })
  const again = await agent.post('/vault-login', { credential_id, path: '/login' })

  expect(asked).toMatchObject({
    status: 403,
    body: {
      error: 'place_not_approved',
      details: {
        untrusted: {
          places: [
            `POST ${site.origin}/password, password as field "current_password" of the form; ` +
              `new_password as field "${fresh.join(' + ')}" of the form`,
          ],
        },
      },
    },
  })
  expect(untouched).toEqual({ password: old })
  expect(answer).toMatchObject({
    status: 200,
    body: { new_password: 'changed', filled: ['password', 'new_password'] },
  })
  expect(now).toEqual({ password: site.account.password, previous_passwords: [old] })
  expect(now.password).toHaveLength(24)
  expect(site.welcomed).toBe(2)
  expect(again).toMatchObject({ body: { response: { url: `${site.origin}/home` } } })
  for (const word of [old, now.password]) {
    expect(JSON.stringify([answer.body, home.body, again.body, world.log])).not.toContain(word)
  }
})

test.each([
  ['a refusal by its status', 'refusal', 'refused', old],
  ['the same page again', 'same page', 'undecided', undefined],
  ['a broken answer', 'broken', undefined, undefined],
  ['an error', 'broken untaken', 'undecided', old],
] as const)('%s loses no password', async (_, how, outcome, known) => {
  const { site, agent, credential_id, ask, approve, secret } = await signedIn()
  await approve(fresh.join(' + '))
  answering(site, how)

  const answer = await ask()
  const kept = await secret()

  if (outcome === undefined)
    expect(answer).toMatchObject({
      body: { error: 'site_unavailable', message: textWith('Nobody knows') },
    })
  else expect(answer).toMatchObject({ status: 200, body: { new_password: outcome } })
  expect(kept.password).toBe(old)
  expect(site.account.password).toBe(known ?? kept.new_password)
  expect(kept.new_password === undefined).toBe(outcome === 'refused')
  expect(JSON.stringify(answer.body)).not.toContain(kept.new_password ?? old)

  const begun = await agent.post('/vault-login', { credential_id, path: '/login' })
  if (known !== undefined) return expect(site.welcomed).toBe(2)
  const order = { session: begun.body['session'], form: 0, secret: 'new_password' }
  const proven = await agent.post('/vault-session', order)
  expect(proven).toMatchObject({ status: 200, body: { new_password: 'changed' } })
  expect(await secret()).toEqual({ password: site.account.password, previous_passwords: [old] })
})

test('of two passwords that nobody answered for, none is lost', async () => {
  const { site, agent, credential_id, ask, approve, step, secret } = await signedIn()
  await approve(fresh.join(' + '))
  answering(site, 'broken untaken')

  await ask()
  const first = await secret()
  await step({ path: '/password' })
  await ask()
  const second = await secret()
  site.account.password = first.new_password ?? ''
  const begun = await agent.post('/vault-login', { credential_id, path: '/login' })
  const order = { session: begun.body['session'], form: 0, secret: 'previous_password' }
  const proven = await agent.post('/vault-session', order)

  expect(first.new_password).not.toBe(second.new_password)
  expect(second).toMatchObject({ password: old, previous_passwords: [first.new_password] })
  expect(proven).toMatchObject({ status: 200, body: { new_password: 'changed' } })
  expect(await secret()).toMatchObject({ password: first.new_password })
})

const field = (name: string, more = '') => `<input type="password" name="${name}" ${more}>`
const formOf = (...fields: string[]) =>
  `<form method="post" action="/password">{csrf}${fields.join('')}</form>`

test.each([
  ['three that only their order tells', ['p1', 'p2', 'p3'], 'p1', ['p2', 'p3']],
  ['an old one and one for the new', ['old_password', 'password'], 'old_password', ['password']],
  ['a password and a new one', ['password', 'newPassword'], 'password', ['newPassword']],
  ['two for the new one', ['password', 'password_confirmation'], undefined, [0, 1]],
  ['a repetition by its number', ['pass', 'pass2'], undefined, [0, 1]],
  ['one that is new', ['user[new_password]'], undefined, [0]],
] as const)('of fields of a form, %s are told apart', async (_, names, current, given) => {
  const taken = given.map((one) => (typeof one === 'number' ? (names[one] ?? '') : one))
  const form = formOf(...names.map((name) => field(name)))
  const pages = { change: { form, fresh: taken, ...(current ? { current } : {}) } }
  const { site, ask, approve } = await signedIn(pages)
  await approve(taken.join(' + '), current)

  const answer = await ask()

  expect(answer).toMatchObject({ status: 200, body: { new_password: 'changed' } })
  expect(site.account.password).toHaveLength(24)
})

test('the rules of the form and of the agent are kept, and nothing short is drawn', async () => {
  const limited = field(
    'new_password',
    'maxlength=12 passwordrules="required: lower; required: digit"',
  )
  const pages = { change: { form: formOf(limited), fresh: ['new_password'] } }
  const { site, ask, approve, step } = await signedIn(pages)
  await approve('new_password')

  await ask()
  expect(site.account.password).toMatch(/^[a-z0-9]{12}$/)
  await step({ path: '/password' })
  await ask({ rules: 'required: upper; maxlength: 9' })
  expect(site.account.password).toMatch(/^[A-Za-z0-9]{9}$/)
  await step({ path: '/password' })
  const short = await ask({ rules: 'maxlength: 4' })

  expect(short).toMatchObject({ status: 422, body: { error: 'form_refused' } })
  expect(site.account.password).toHaveLength(9)
})

test('a place that is taken away, and a freeze, keep what the entry has', async () => {
  const { site, agent, ask, approve, credential_id } = await signedIn()
  await approve(fresh.join(' + '))
  await world.db
    .sql`update private.vault_places set approved_at = null where entry = ${credential_id}`

  const ended = await ask()
  await approve(fresh.join(' + '))
  await agent.post('/account-freeze', {})
  const frozen = await ask()

  expect([ended.status, frozen.status]).toEqual([403, 403])
  expect(site.account.password).toBe(old)
})
