import { expect, test } from 'vitest'
import { codeFor, confirm, linkFor, requestCode } from '../support/sign-up.ts'
import { start } from '../support/world.ts'

const world = await start()
const refused = { status: 422, body: { error: 'code_not_accepted' } }
const wrongOf = (code: string) => String((Number(code) + 1) % 1_000_000).padStart(6, '0')

test('gives a link of 30 minutes for the code, once', async () => {
  await requestCode(world, 'ada@example.com')
  const code = await codeFor(world, 'ada@example.com')

  const first = await confirm(world, 'ADA@example.com', code)
  const second = await confirm(world, 'ada@example.com', code)

  expect(first.status).toBe(200)
  expect(first.body['registration_url']).toMatch(/^http:\/\/localhost\/web\/register\/[\w-]{43}$/)
  const left = new Date(String(first.body['expires_at'])).getTime() - world.world.now().getTime()
  expect(Math.abs(left - 30 * 60_000)).toBeLessThan(10_000)
  expect(second).toMatchObject(refused)
})

test('takes no code after 10 minutes', async () => {
  await requestCode(world, 'late@example.com')
  const code = await codeFor(world, 'late@example.com')
  await world.tick(600)
  expect(await confirm(world, 'late@example.com', code)).toMatchObject(refused)
})

test('takes no code after 5 wrong ones', async () => {
  for (const [email, wrong, status] of [
    ['four@example.com', 4, 200],
    ['five@example.com', 5, 422],
  ] as const) {
    await requestCode(world, email)
    const code = await codeFor(world, email)
    for (let tries = 0; tries < wrong; tries += 1) await confirm(world, email, wrongOf(code))
    expect((await confirm(world, email, code)).status, email).toBe(status)
  }
})

test('wrong ones at once count like wrong ones in turn', async () => {
  await requestCode(world, 'burst@example.com')
  const code = await codeFor(world, 'burst@example.com')

  await Promise.all(
    Array.from({ length: 8 }, () => confirm(world, 'burst@example.com', wrongOf(code))),
  )

  const rows = await world.db.sql`select tries_elsewhere from private.signups
    where email = 'burst@example.com'`
  expect([...rows]).toEqual([{ tries_elsewhere: 5 }])
  expect(await confirm(world, 'burst@example.com', code)).toMatchObject(refused)
})

test('however many guesses come from elsewhere, who asked for the code can give it', async () => {
  const home = { 'cf-connecting-ip': '203.0.113.7' }
  await requestCode(world, 'guessed@example.com', home)
  const code = await codeFor(world, 'guessed@example.com')
  for (let guess = 0; guess < 12; guess += 1) {
    await confirm(world, 'guessed@example.com', wrongOf(code))
  }

  expect(await confirm(world, 'guessed@example.com', code)).toMatchObject(refused)
  expect((await confirm(world, 'guessed@example.com', code, home)).status).toBe(200)
})

test('of one code used at once exactly one use gets a link', async () => {
  await requestCode(world, 'twice@example.com')
  const code = await codeFor(world, 'twice@example.com')

  const uses = Array.from({ length: 8 }, () => confirm(world, 'twice@example.com', code))

  const statuses = (await Promise.all(uses)).map(({ status }) => status)
  expect(statuses.filter((status) => status === 200)).toHaveLength(1)
})

test('an earlier code that is still good is taken too', async () => {
  await requestCode(world, 'slow@example.com')
  const code = await codeFor(world, 'slow@example.com')
  await requestCode(world, 'slow@example.com')
  expect((await confirm(world, 'slow@example.com', code)).status).toBe(200)
})

test('takes no code of another address, and refuses both as if there were none', async () => {
  await requestCode(world, 'one@example.com')
  await requestCode(world, 'two@example.com')
  const code = await codeFor(world, 'one@example.com')

  const answers = [
    await confirm(world, 'two@example.com', code),
    await confirm(world, 'stranger@example.com', code),
  ]

  const bodies = answers.map(({ status, body }) => ({ status, ...body, request_id: '' }))
  expect(bodies[0]).toMatchObject({ status: 422, error: 'code_not_accepted' })
  expect(bodies[0]).toEqual(bodies[1])
})

test('a link is nothing that the database knows', async () => {
  const link = await linkFor(world, 'secret@example.com')
  const [row] = await world.db.sql`select to_jsonb(s)::text as text from private.signups s
    where email = 'secret@example.com'`
  expect(row?.['text']).toContain('link_digest')
  expect(row?.['text']).not.toContain(link)
})

test.each(['12345', '1234567', 'abcdef', '１２３４５６', ' 12345', ''])(
  'refuses %j as a code',
  async (code) => {
    expect(await confirm(world, 'ada@example.com', code)).toMatchObject({
      status: 400,
      body: { error: 'invalid_request' },
    })
  },
)
