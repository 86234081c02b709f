import { expect, test } from 'vitest'
import { start } from '../support/world.ts'

const world = await start()
const check = (alias: string) =>
  world.send(`/check-availability?${new URLSearchParams({ alias }).toString()}`)

test('a free alias is available to anybody who asks, without a token', async () => {
  const answer = await check('free-name')
  expect(answer).toMatchObject({
    status: 200,
    body: { alias: 'free-name', available: true, suggestions: [] },
  })
  expect(answer.body).not.toHaveProperty('reason')
})

test('a token that is not good changes nothing about a public answer', async () => {
  const headers = { authorization: 'Bearer nonsense' }
  expect(await world.send('/check-availability?alias=free-name', { headers })).toMatchObject({
    status: 200,
  })
})

test('a taken alias is told as taken in every spelling of it', async () => {
  await world.agent('read', { alias: 'carol' })
  for (const spelling of ['carol', 'CAROL', ' Carol ', 'ｃａｒｏｌ']) {
    expect((await check(spelling)).body, spelling).toMatchObject({
      alias: 'carol',
      available: false,
      reason: 'taken',
    })
  }
})

test('what is suggested is free itself', async () => {
  await world.agent('read', { alias: 'dave' })
  const first = (await check('dave')).body['suggestions']
  expect(first).toEqual(['dave-agent', 'dave-2', 'my-dave'])
  await world.agent('read', { alias: 'dave-agent' })

  const { suggestions } = (await check('dave')).body

  expect(suggestions).toEqual(['dave-2', 'my-dave'])
  for (const near of Array.isArray(suggestions) ? suggestions : []) {
    expect((await check(String(near))).body['available']).toBe(true)
  }
})

test.each(['rnodern-l', 'm0dern-l', 'modern-1', 'm-odern-i', 'modernl'])(
  '%s is too similar to modern-l',
  async (lookAlike) => {
    if ((await check('modern-l')).body['available'] === true) {
      await world.agent('read', { alias: 'modern-l' })
    }
    expect((await check(lookAlike)).body).toMatchObject({ available: false, reason: 'similar' })
  },
)

test.each([
  ['postmaster', 'reserved'],
  ['Support', 'reserved'],
  ['supp0rt', 'reserved'],
  ['ad-min', 'reserved'],
  ['ab', 'malformed'],
  ['1bob', 'malformed'],
  ['bob--agent', 'malformed'],
  ['bob.agent', 'malformed'],
  ['bоb-agent', 'malformed'],
  ["x' or 1=1 --", 'malformed'],
])('%j is %s', async (alias, reason) => {
  expect(await check(alias)).toMatchObject({ status: 200, body: { available: false, reason } })
})

test.each(['', '?alias=', `?alias=${'a'.repeat(65)}`, '?alias=a-name&other=1', '?name=bob'])(
  'refuses the query %j',
  async (query) => {
    expect(await world.send(`/check-availability${query}`)).toMatchObject({
      status: 400,
      body: { error: 'invalid_request' },
    })
  },
)

test('tells nothing but whether the alias is taken', async () => {
  await world.agent('read', { alias: 'erin' })
  const { body } = await check('erin')
  expect(Object.keys(body).toSorted()).toEqual(['alias', 'available', 'reason', 'suggestions'])
})
