/** Near a limit that all callers share, a caller without an account must do a second of work. */
import { expect, test } from 'vitest'
import * as z from 'zod'
import { openBrowser } from '../support/browserless.ts'
import { openPerson, signInAs } from '../support/person.ts'
import { post, requestCode } from '../support/sign-up.ts'
import type { Challenge } from '../support/work.ts'
import { challengeOf, challengeSchema, crowd, solved } from '../support/work.ts'
import { start } from '../support/world.ts'

const world = await start()
const path = '/request-signup-verification'
const sessionCookie = '__Host-aoa_session'
/** Requests 300 codes at once and one more each second; 600 sign-ins and one more each quarter second. */
const crowdCodes = (taken: number) => crowd(world, 'sign-up', taken)
const crowdSignIns = (taken: number) => crowd(world, 'sign-in', taken / 4)

const refusal = z.object({ error: z.string(), details: z.object({ challenge: z.string() }) })

/** Returns the challenge that a request without work gets. */
async function challengeFor(email: string): Promise<Challenge> {
  const { body } = await post(world, path, { email })
  const { details } = refusal.parse(body)
  return challengeSchema.parse(JSON.parse(details.challenge))
}

test('half of the codes are sent without work, and each of the other half for one work', async () => {
  await crowdCodes(149)
  expect(await requestCode(world, 'ada@example.com')).toMatchObject({ status: 200 })
  await crowdCodes(200)

  const refused = await post(world, path, { email: 'bea@example.com' })
  const solution = await solved(await challengeFor('bea@example.com'))
  const sent = await post(world, path, { email: 'bea@example.com', solution })
  const again = await post(world, path, { email: 'cleo@example.com', solution })

  expect(refused).toMatchObject({ status: 429, body: { error: 'work_required' } })
  expect(sent).toMatchObject({ status: 200, body: { status: 'sent' } })
  expect(again).toMatchObject({ status: 429, body: { error: 'work_required' } })
})

test('work passes no bound, and is not used up by the refusal', async () => {
  await crowdCodes(200)
  const solution = await solved(await challengeFor('dora@example.com'))
  await crowdCodes(300)

  const full = await post(world, path, { email: 'dora@example.com', solution })
  await crowdCodes(200)
  const sent = await post(world, path, { email: 'dora@example.com', solution })

  expect(full).toMatchObject({ status: 429, body: { error: 'rate_limited' } })
  expect(sent).toMatchObject({ status: 200 })
})

test('work for something else, of ten minutes ago or of nobody is none', async () => {
  await crowdSignIns(400)
  const browser = openBrowser(world)
  await browser.visit('/web/login')
  const page = await browser.submit({ email: 'x@example.com', password: 'x' }, '/web/login')
  const other = await solved(challengeOf(page.html))
  await crowdCodes(200)
  const old = await solved(await challengeFor('eva@example.com'))
  await world.tick(601)
  await crowdCodes(200)

  const answers = []
  for (const solution of [other, old, '{}', 'null', '', '{"challenge":{}}', 'x'.repeat(2_048)]) {
    answers.push((await post(world, path, { email: 'eva@example.com', solution })).body)
  }

  expect(answers.map((body) => refusal.parse(body).error)).toEqual(
    answers.map(() => 'work_required'),
  )
})

test('who signs in where strangers try very many passwords does the work and is let in', async () => {
  const { email, password } = await openPerson(world)
  await crowdSignIns(400)
  const browser = openBrowser(world)
  await browser.visit('/web/login')

  const page = await browser.submit({ email, password }, '/web/login')
  const form = { email, password, solution: await solved(challengeOf(page.html)) }
  await browser.submit(form, '/web/login')

  expect(page.status).toBe(429)
  expect(page.text).toContain('Very many ask for this now')
  expect(browser.cookies.has(sessionCookie)).toBe(true)
})

test('who signed in from this network before is asked for no work', async () => {
  await crowdSignIns(0)
  const person = await openPerson(world)
  await signInAs(world, person)
  await crowdSignIns(600)

  expect((await signInAs(world, person)).cookies.has(sessionCookie)).toBe(true)
})

test('the pages for a recovery code and for a new account ask for work as well', async () => {
  await crowdSignIns(400)
  await crowdCodes(200)
  const browser = openBrowser(world)
  await browser.visit('/web/login/recovery')
  const code = await browser.submit({ email: 'f@example.com', code: 'x' }, '/web/login/recovery')
  const form = { email: 'f@example.com', code: 'x', solution: await solved(challengeOf(code.html)) }
  const tried = await browser.submit(form, '/web/login/recovery')

  await browser.visit('/web/join')
  const join = await browser.submit({ email: 'fay@example.com' }, '/web/join')
  const solution = await solved(challengeOf(join.html))
  const sent = await browser.submit({ email: 'fay@example.com', solution }, '/web/join')

  expect([code.status, join.status]).toEqual([429, 429])
  expect(tried.text).toContain('The mail address or the code is not right')
  expect(sent.path).toBe('/web/join/code')
})
