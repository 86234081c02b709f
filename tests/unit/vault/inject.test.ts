import fc from 'fast-check'
import { expect, test } from 'vitest'
import { requestTemplate, requestWith } from '../../../shared/vault/inject.ts'

const password = 'p&ss "wörd"/+'
const entry = {
  origin: 'https://shop.example.com',
  username: 'me@example.com',
  values: new Map([
    ['password', password],
    ['totp', '282760'],
    ['fields.token', 'tok-4711'],
  ]),
  links: new Map([['mail.c_aaaaaaaaaaaa', 'https://shop.example.com/in/482913?t=a#b']]),
  hidden: [],
}

function make(template: object, used = entry) {
  const read = requestTemplate.parse({ method: 'POST', path: '/login?x=1', ...template })
  const request = requestWith(used, read)
  if ('refused' in request) return request
  const { body, url, headers, ...others } = request
  return {
    ...others,
    url: url.href,
    headers: Object.fromEntries(headers),
    ...(body ? { body: Buffer.from(body).toString() } : {}),
  }
}

test('a form carries the secrets behind its fields, read by any server as they are', () => {
  const request = make({
    form: { user: 'me', a: 'b c' },
    inject: [
      { where: 'form_field', name: 'pass', secret: 'password' },
      { where: 'form_field', name: 'otp', secret: 'totp' },
    ],
  })

  expect(request).toMatchObject({
    url: 'https://shop.example.com/login?x=1',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    secrets: [password, '282760', 'tok-4711'],
    withheld: 'password_sent',
  })
  const body = 'body' in request ? request.body : undefined
  expect([...new URLSearchParams(body)]).toEqual([
    ['user', 'me'],
    ['a', 'b c'],
    ['pass', password],
    ['otp', '282760'],
  ])
})

test('a JSON body carries them at their pointers, and objects on the way are made', () => {
  const request = make({
    json: { user: { name: 'me' }, list: [1] },
    inject: [
      { where: 'json_field', pointer: '/user/pass', secret: 'password' },
      { where: 'json_field', pointer: '/a~1b/~01/__proto__', secret: 'fields.token' },
    ],
  })

  expect(request).toMatchObject({ headers: { 'content-type': 'application/json' } })
  expect('body' in request && request.body).toBe(
    `{"list":[1],"user":{"name":"me","pass":${JSON.stringify(password)}},"a/b":{"~1":{"__proto__":"tok-4711"}}}`,
  )
})

test('headers, bearer and basic authentication carry them', () => {
  const header = { where: 'header', name: 'X-Api-Key', secret: 'fields.token', prefix: 'Token ' }
  const inject = [header, { where: 'bearer', secret: 'fields.token' }]
  const basic = make({ method: 'GET', inject: [{ where: 'basic' }] })

  expect(make({ method: 'GET', headers: { Accept: '*/*' }, inject })).toMatchObject({
    headers: { accept: '*/*', 'x-api-key': 'Token tok-4711', authorization: 'Bearer tok-4711' },
    secrets: ['tok-4711', password],
  })
  expect(basic).toMatchObject({
    headers: {
      authorization: `Basic ${Buffer.from(`me@example.com:${password}`).toString('base64')}`,
    },
    secrets: [`me@example.com:${password}`, password, 'tok-4711'],
  })
})

test('the user name is placed and is no secret', () => {
  const inject = [{ where: 'form_field', name: 'u', secret: 'username' }]

  const used = { ...entry, values: new Map([['fields.pin', '4711']]) }

  expect(make({ inject }, used)).toMatchObject({ body: 'u=me%40example.com', withheld: undefined })
})

test('whatever path a template has, the request goes to the site and holds no secret in its URL', () => {
  const path = fc.oneof(
    fc.webPath(),
    fc.stringMatching(/^\/[!-~]{0,30}$/),
    fc.constantFrom('/@evil.example', '/.//evil.example', '/..//evil.example', '/%2f/evil.example'),
  )
  fc.assert(
    fc.property(path, (tried) => {
      const read = requestTemplate.safeParse({
        method: 'POST',
        path: tried,
        inject: [{ where: 'form_field', name: 'p', secret: 'fields.token' }],
      })
      if (!read.success) return
      const request = requestWith(entry, read.data)
      if ('refused' in request) throw new Error(request.refused)
      expect(request.url.origin).toBe(entry.origin)
      expect(request.url.href).not.toContain('tok-4711')
    }),
    { numRuns: 500 },
  )
})

const pass = { where: 'form_field', name: 'p', secret: 'password' }

test.each([
  ['another host', { path: '//evil.example/', inject: [pass] }],
  ['another host by a backslash', { path: '/\\evil.example/', inject: [pass] }],
  ['a backslash further on', { path: '/a\\b', inject: [pass] }],
  ['a whole address', { path: 'https://evil.example/', inject: [pass] }],
  ['a line break in the path', { path: '/\n/evil.example', inject: [pass] }],
  ['a secret for the URL', { inject: [{ where: 'query', name: 'p', secret: 'password' }] }],
  ['the seed', { inject: [{ ...pass, secret: 'totp_secret' }] }],
  ['the notes', { inject: [{ ...pass, secret: 'notes' }] }],
  ['no secret at all', { inject: [] }],
  ['a header with a line break', { headers: { a: 'b\r\nc: d' }, inject: [pass] }],
  ['a header name with a colon', { headers: { 'a:': 'b' }, inject: [pass] }],
  ['an unknown word', { inject: [pass], follow: true }],
  ['another method', { method: 'TRACE', inject: [pass] }],
  ['a pointer to everything', { inject: [{ where: 'json_field', pointer: '', secret: 'totp' }] }],
])('a template with %s is not read', (_, template) => {
  expect(requestTemplate.safeParse({ method: 'POST', path: '/', ...template }).success).toBe(false)
})

const link = { where: 'link', secret: 'mail.c_aaaaaaaaaaaa' }
const linked = { method: 'GET', path: undefined, inject: [link] }

test('a link is opened by itself, and nothing that could be its token may come back', () => {
  const request = make(linked)

  expect(request).toMatchObject({ url: 'https://shop.example.com/in/482913?t=a', headers: {} })
  expect('secrets' in request && request.secrets).toEqual([
    'https://shop.example.com/in/482913?t=a#b',
    '482913',
    '/in/482913?t=a',
    password,
    'tok-4711',
  ])
})

const bearer = { where: 'bearer', secret: 'fields.token' }
const json = (pointer: string) => ({ where: 'json_field', pointer, secret: 'totp' })

test.each([
  ['a secret that is not there', { inject: [{ ...pass, secret: 'fields.other' }] }],
  ['a host header', { headers: { Host: 'evil.example' }, inject: [pass] }],
  ['an encoding', { headers: { 'accept-encoding': 'gzip' }, inject: [pass] }],
  [
    'a secret as a header of the connection',
    { inject: [{ ...bearer, where: 'header', name: 'Te' }] },
  ],
  ['a header twice', { headers: { Authorization: 'x' }, inject: [bearer] }],
  ['a body by GET', { method: 'GET', inject: [pass] }],
  ['form and JSON', { json: {}, inject: [pass] }],
  ['a field twice', { form: { p: '1' }, inject: [pass] }],
  ['a member twice', { json: { a: 1 }, inject: [json('/a')] }],
  ['a pointer through a list', { json: { a: [1] }, inject: [json('/a/0')] }],
  ['a pointer through text', { json: { a: 'b' }, inject: [json('/a/b')] }],
  ['no path', { path: undefined, inject: [pass] }],
  ['a path and a link', { ...linked, path: '/' }],
  ['two links', { ...linked, inject: [link, link] }],
  ['a link by DELETE', { ...linked, method: 'DELETE' }],
  ['a link for a code', { inject: [{ ...pass, secret: 'mail.c_aaaaaaaaaaaa' }] }],
  ['a code for a link', { ...linked, inject: [{ ...link, secret: 'mail.c_bbbbbbbbbbbb' }] }],
  ['letters that no header carries', { inject: [{ where: 'bearer', secret: 'password' }] }],
])('a request with %s is not made, and the reason holds no secret', (_, template) => {
  const answer = make(template)

  expect(answer).toHaveProperty('refused', expect.stringMatching(/\.$/))
  expect(JSON.stringify(answer)).not.toMatch(/p&ss|282760|tok-4711/)
})

test.each([
  'https://shop.example.com.evil.example/in',
  'http://shop.example.com/in',
  'https://shop.example.com:444/in',
  'https://shop.example.com@evil.example/in',
  'javascript:alert(1)',
  'no address',
])('a link to %s is not opened', (address) => {
  const links = new Map([['mail.c_aaaaaaaaaaaa', address]])

  const answer = make(linked, { ...entry, links })

  expect(answer).toEqual({ refused: 'The link leads to another site than the entry.' })
})

test('basic authentication needs a password, and a user name without colon', () => {
  const inject = [{ where: 'basic' }]

  expect(make({ inject }, { ...entry, values: new Map() })).toHaveProperty('refused')
  expect(make({ inject }, { ...entry, username: 'a:b' })).toHaveProperty('refused')
})
