/**
 * A password goes only where a browser would put it. A browser neither shows nor sends these forms: the
 * site's policy or charset excludes them, because members wrote them and the site merely serves them.
 */
import { expect, test } from 'vitest'
import { serverThat } from '../support/http.ts'
import { entryOf } from '../support/vault-rows.ts'
import { start } from '../support/world.ts'

const world = await start()
const form =
  '<form method="post" action="/login"><input name="user"><input type="password" name="password"></form>'
/** Member content in Chinese whose UTF-16 bytes are those of the form. */
const chinese = Buffer.from(form.length % 2 ? `${form} ` : form).toString('utf16le')
const type = { 'content-type': 'text/html' }
const policy = (text: string) => ({ ...type, 'content-security-policy': text })

const pages: [string, Record<string, string>, string | Buffer][] = [
  [
    'a form that may be sent to another origin alone',
    policy('form-action https://login.example'),
    form,
  ],
  [
    'a form that may be sent nowhere, as its list is empty',
    policy("default-src 'self'; form-action"),
    form,
  ],
  [
    'a form that may be sent to another path alone',
    policy('form-action http://127.0.0.1:*/search'),
    form,
  ],
  [
    'a page that says so in its head',
    type,
    `<meta http-equiv="Content-Security-Policy" content="form-action 'none'">${form}`,
  ],
  [
    'a page in UTF-16 by its mark',
    type,
    Buffer.concat([Buffer.of(0xff, 0xfe), Buffer.from(`<p>\u4f60\u597d ${chinese}`, 'utf16le')]),
  ],
  ['a page in which the form stands in plaintext', type, `<p>A snippet:<plaintext>${form}`],
  [
    'a page in UTF-16 by its header',
    { 'content-type': 'text/html; charset=utf-16le' },
    Buffer.from(`<p>\u4f60${chinese}`, 'utf16le'),
  ],
  [
    'a page in Japanese by its head',
    type,
    Buffer.from(`<meta charset="iso-2022-jp"><p>\x1b$B${form}\x1b(B`, 'latin1'),
  ],
  [
    'a page in an encoding that nobody knows',
    { 'content-type': 'text/html; charset=no-such' },
    form,
  ],
  ['a form that is sent as plain text', type, form.replace('<form', '<form enctype="text/plain"')],
]

test.each(pages)('%s takes no password', async (_, headers, body) => {
  const site = await serverThat((response) => void response.writeHead(200, headers).end(body))
  const agent = await world.agent('vault')
  const origin = new URL(site.url).origin
  const credential_id = await entryOf(world, agent, { site: origin, password: 'Canary-1-horse' })

  await agent.post('/vault-login', { credential_id, path: '/wiki/mallory' })

  expect(site.received.map(({ method }) => method)).toEqual(['GET'])
})

test.each([
  ['no policy', type, form],
  ['its own origin', policy("default-src 'none'; form-action 'self'"), form],
  ['its own path', policy('form-action http://127.0.0.1:*/login'), form],
  ['everything below', policy("script-src 'self', form-action https: http://127.0.0.1:*/"), form],
  ['any', policy('form-action *'), form],
  ['a mark of UTF-8', type, `\ufeff${form}`],
  ['UTF-16', type, Buffer.from(`\ufeff${form}`, 'utf16le')],
  ['Latin letters', { 'content-type': 'text/html; charset=iso-8859-1' }, form],
])('a page with %s has a form that signs in', async (_, headers, body) => {
  const site = await serverThat((response, { method }) => {
    response.writeHead(200, headers).end(method === 'GET' ? body : 'welcome')
  })
  const agent = await world.agent('vault')
  const origin = new URL(site.url).origin
  const credential_id = await entryOf(world, agent, { site: origin, password: 'Canary-1-horse' })

  const answer = await agent.post('/vault-login', { credential_id, path: '/' })

  expect(answer).toMatchObject({ status: 200, body: { filled: ['username', 'password'] } })
})

/** Field names that count only by their Latin letters. */
test.each([
  ['Chinese', '\u7b80\u4ecb[password]'],
  ['Cyrillic', '\u0437\u0430\u043c\u0435\u0442\u043a\u0430.password'],
  ['Greek', '\u03b2\u03b9\u03bf_password'],
  ['digits', '7[password]'],
])('a field that %s says to be of something else takes no password unasked', async (_, name) => {
  const site = await serverThat((response) => {
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' })
    response.end(
      `<form method="post" action="/login"><input name="user"><input type="password" name="${name}"></form>`,
    )
  })
  const agent = await world.agent('vault')
  const origin = new URL(site.url).origin
  const credential_id = await entryOf(world, agent, { site: origin, password: 'Canary-1-horse' })

  const answer = await agent.post('/vault-login', { credential_id, path: '/wiki/mallory' })

  expect([answer.status, answer.body['error']]).toEqual([403, 'place_not_approved'])
})
