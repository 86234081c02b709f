/** Cookies that our pages did not set have no effect, and nothing fails because of them. */
import { beforeEach, expect, test } from 'vitest'
import { openBrowser } from '../support/browserless.ts'
import { start } from '../support/world.ts'

const world = await start()
beforeEach(() => {
  world.log.length = 0
})

const odd = [
  '%00',
  'a%00b%40c.de',
  '%ED%A0%80',
  '%E0%A4%A',
  '%',
  '"',
  'x'.repeat(4_000),
  'a=b',
  'ü',
]
const names = ['aoa_session', 'aoa_form', 'aoa_join', 'aoa_typed', 'aoa_browser']
const pages = ['/web', '/web/login', '/web/join', '/web/join/code', '/web/proof', '/web/keys']

test.each(names)('%s may be anything', async (name) => {
  const answers: Record<string, number> = {}
  for (const value of odd) {
    for (const page of pages) {
      const visitor = openBrowser(world)
      await visitor.visit('/web/login')
      visitor.cookies.set(`__Host-${name}`, Buffer.from(value).toString('latin1'))
      const form = visitor.cookies.get('__Host-aoa_form') ?? ''
      const seen = await visitor.send(page)
      const sent = await visitor.send(page, {
        method: 'POST',
        body: new URLSearchParams({ form, code: '123456', email: 'a@b.example' }),
        headers: { origin: 'http://localhost' },
      })
      answers[`${page} ${value.slice(0, 24)}`] = Math.max(seen.status, sent.status)
    }
  }

  expect(Object.entries(answers).filter(([, status]) => status >= 500)).toEqual([])
  expect(world.log).toEqual([])
})
