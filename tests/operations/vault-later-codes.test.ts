/** A code is also removed where a site shows it later than in the answer to its own request. */
import { expect, test } from 'vitest'
import { codesAround, totpCode } from '../../shared/vault/entries/totp.ts'
import type { Answering } from '../support/http.ts'
import { serverThat } from '../support/http.ts'
import { approvePlace, codeOf, entryOf } from '../support/vault-rows.ts'
import { start } from '../support/world.ts'

const world = await start()
const totp = { seed: 'JBSWY3DPEHPK3PXP', algorithm: 'SHA1', digits: 6, periodSeconds: 30 } as const
const mailed = '904817'

async function user(answer: Answering) {
  const site = await serverThat(answer)
  const { origin } = new URL(site.url)
  const agent = await world.agent('vault')
  const entry = { site: origin, username: 'ada', password: 'Canary-1-horse', totp }
  const credential_id = await entryOf(world, agent, entry)
  for (const secret of ['password', 'totp', 'mail']) {
    await approvePlace(world, credential_id, { secret, name: 'p' })
  }
  const use = (secret: string) =>
    agent.post('/vault-use', {
      credential_id,
      method: 'POST',
      path: '/',
      inject: [{ where: 'form_field', name: 'p', secret }],
    })
  const open = (path: string) => agent.post('/vault-login', { credential_id, path })
  return { site, agent, use, open }
}

const backwards = (text: string) => Array.from(text).reverse().join('')
const said = (body: Buffer) => new URLSearchParams(body.toString()).get('p') ?? ''

test('the code of a second call is not told in the answer to one that was opened before', async () => {
  let held: ((code: string) => void) | undefined
  const { use } = await user((response, { body }) => {
    const code = said(body)
    if (/^[0-9]{6}$/.test(code)) {
      response.end('Thank you.')
      held?.(code)
    } else held = (later) => response.end(`Codes until now: ${later}.`)
  })

  const first = use('password')
  await expect.poll(() => held).toBeDefined()
  await world.tick(30)
  const second = await use('totp')

  expect(second).toMatchObject({ status: 200 })
  expect((await first).body['response']).toMatchObject({
    body: 'Codes until now: [secret removed].',
  })
})

test('a code that was over a moment ago is not told by a page', async () => {
  const ago = world.world.now().getTime() - 30_000
  const { open } = await user((response) => {
    response.setHeader('content-type', 'text/html').end(`Last code: ${totpCode(totp, ago).code}.`)
  })

  const { body } = await open('/security')

  expect(body['response']).toMatchObject({ body: 'Last code: [secret removed].' })
})

test('the code of a mail that was used is not told by a page of another session', async () => {
  const { site, agent, use, open } = await user((response) => {
    const codes = site.received.map((one) => said(one.body)).join(' ')
    response.setHeader('content-type', 'text/html').end(`Used: ${codes.trim()}.`)
  })
  const handle = await codeOf(world, agent, { value: mailed, hosts: ['127.0.0.1'] })

  await use(`mail.${handle}`)
  const { body } = await open('/security')

  expect(body['response']).toMatchObject({ body: 'Used: [secret removed].' })
})

test('beside TOTP codes, read forwards or backwards, no other number is lost', async () => {
  const { open } = await user((response) => {
    const now = world.world.now().getTime()
    const { code } = totpCode(totp, now)
    const around = [now, now + 30_000].flatMap((moment) => codesAround(totp, moment))
    const codes = new Set([...around, ...around.map(backwards)])
    const numbers = Array.from({ length: 3_000 }, (_, at) => String(Number(code) + 3 * at + 3))
    const others = numbers.filter((number) => !codes.has(number))
    response.setHeader('content-type', 'text/html').end([code, ...others].join(' and '))
  })

  const { body } = await open('/security')

  expect(body).toMatchObject({ removed: 1 })
})

test('a short code is missing in its session until it is over, and numbers with it', async () => {
  const pages: Record<string, string> = {
    'GET /login': '<form method="post"><input name="user"><input type="password" name="password">',
    'POST /login':
      '<form method="post" action="/otp"><input name="otp" autocomplete="one-time-code"></form>',
  }
  const { site, agent, open } = await user((response, { method, url }) => {
    const page = pages[`${method} ${url}`] ?? 'You sent 4711 of 9302.'
    response.setHeader('content-type', 'text/html').end(page)
  })
  const { body } = await open('/login')
  const handle = await codeOf(world, agent, { value: '4711', hosts: ['127.0.0.1'] })
  const { session } = body
  await agent.post('/vault-session', { session, form: 0, secret: `mail.${handle}` })
  const shown = async () => {
    const page = await agent.post('/vault-session', { session, path: '/orders' })
    return page.body['response']
  }

  const soon = await shown()
  await world.tick(15 * 60)
  const late = await shown()

  expect(site.received.some(({ body: sent }) => sent.toString() === 'otp=4711')).toBe(true)
  expect(soon).toMatchObject({ body: 'You sent [secret removed] of [secret removed].' })
  expect(late).toMatchObject({ body: 'You sent 4711 of 9302.' })
})
