/** A secret is removed from an answer, however an honest site writes its input. */
import { createHash } from 'node:crypto'
import { deflateRawSync, gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { serverThat } from '../support/http.ts'
import { randomUUID } from '../support/seed.ts'
import { approvePlace, entryOf } from '../support/vault-rows.ts'
import { start } from '../support/world.ts'

const world = await start()
type Page = { body: string | Buffer; type?: string; headers?: Record<string, string> }
let page: Page = { body: '' }
const site = await serverThat((response) => {
  const { body, type = 'text/html; charset=utf-8', headers = {} } = page
  response.writeHead(200, { 'content-type': type, ...headers }).end(body)
})
const origin = new URL(site.url).origin
const agent = await world.agent('vault', { rate: { burst: 600, perSecond: 100 } })
const inject = [{ where: 'form_field', name: 'pass', secret: 'password' }]

const canary = 'Canary-1 horse "battery"'
const words = 'correct horse battery staple'
const euro = 'Pass€wort-Čapek-12'
const umlaut = 'Grünkohl-Schüssel-77'
const short = 'aB3xY7q'
const box = '<span style="display:inline-block;width:2em;border:1px solid #ccc;text-align:center">'
const boxes = (text: string) => Array.from(text, (one) => `${box}${one}</span>`).join('')
const indented = (text: string) =>
  Array.from(text, (one) => `<td>\n                    ${one}\n                </td>`).join('\n')

const key = `-----BEGIN KEY-----\n${'MIIEvQIBADANBgkqhkiG9w0BAQEFAASC'.repeat(2)}\n${'BKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj'.repeat(2)}\n-----END KEY-----\n`

const noise = Array.from({ length: 12 }, (_, at) =>
  createHash('sha256').update(`${at}`).digest('hex'),
).join('')
const state = JSON.stringify({ noise, said: canary })
const zipped = gzipSync(state).toString('base64')

const cases: [string, string, Page][] = [
  ['control: as it is', canary, { body: canary }],
  ['control: base64', canary, { body: Buffer.from(canary).toString('base64') }],
  [
    'quotes as typographers set them (WordPress)',
    canary,
    { body: `You said Canary-1 horse “battery”` },
  ],
  [
    'quotes as entities of typographers',
    canary,
    { body: 'You said Canary-1 horse &#8220;battery&#8221;' },
  ],
  ['spaces that do not break', words, { body: words.replaceAll(' ', '&nbsp;') }],
  ['U+00A0', words, { body: words.replaceAll(' ', '\u00a0') }],
  [
    'lines broken at a space',
    words,
    { body: 'You said correct horse\nbattery staple', type: 'text/plain' },
  ],
  ['a quoted mail', words, { body: '> correct horse\n> battery staple', type: 'text/plain' }],
  ['a title of a wiki', words, { body: `<a href="/wiki/${words.replaceAll(' ', '_')}">page</a>` }],
  ['a slug', words, { body: `<a href="/q/${words.replaceAll(' ', '-')}">page</a>` }],
  [
    'a header with Q encoding',
    words,
    { body: '', headers: { 'x-said': `=?utf-8?Q?${words.replaceAll(' ', '_')}?=` } },
  ],
  [
    'names of characters (htmlentities of PHP)',
    euro,
    { body: euro.replace('€', '&euro;').replace('Č', '&Ccaron;') },
  ],
  ['the name of the euro alone', 'Pass€wort-12', { body: 'Pass&euro;wort-12' }],
  [
    'Greek names',
    'κωδικός-4711',
    { body: '&kappa;&omega;&delta;&iota;&kappa;&#972;&sigmaf;-4711' },
  ],
  ['UTF-8 that was taken for Latin-1', umlaut, { body: Buffer.from(umlaut).toString('latin1') }],
  [
    'UTF-8 under a wrong charset',
    umlaut,
    { body: Buffer.from(umlaut), type: 'text/html; charset=iso-8859-1' },
  ],
  [
    'UTF-8 in a header',
    umlaut,
    { body: '', headers: { 'x-said': Buffer.from(umlaut).toString('latin1') } },
  ],
  [
    'ASCII that is said to be UTF-16',
    'Canary-1-horse-battery',
    { body: Buffer.from('Canary-1-horse-battery'), type: 'text/html; charset=utf-16le' },
  ],
  ['base64 of Latin-1 (btoa)', umlaut, { body: Buffer.from(umlaut, 'latin1').toString('base64') }],
  [
    'base64 of Windows-1252 with the user',
    'Grün-77-Kohl',
    { body: Buffer.from('me:Grün-77-Kohl', 'latin1').toString('base64') },
  ],
  ['capitals of a sharp s', 'Straßenbahn-77', { body: 'STRASSENBAHN-77' }],
  ['soft hyphens by name', canary, { body: 'Can&shy;ary-1 hor&shy;se "bat&shy;tery"' }],
  ['places to break by number', canary, { body: 'Can&#8203;ary-1 hor&#8203;se "bat&#8203;tery"' }],
  ['a letter in each box with its style', canary, { body: boxes(canary) }],
  ['a letter in each box of a table', canary, { body: indented(canary) }],
  ['seven signs with spaces between', short, { body: 'a B 3 x Y 7 q' }],
  ['seven signs in two groups', short, { body: 'aB3-xY7q' }],
  ['seven signs in boxes', short, { body: Array.from(short, (one) => `<b>${one}</b>`).join('') }],
  ['doubled quotes of seven signs (CSV, SQL)', `a'b'c'd`, { body: `'a''b''c''d'` }],
  [
    'a secret with a space at its end, trimmed',
    'Canary-1 horse ',
    { body: 'You said Canary-1 horse.' },
  ],
  ['a key of several lines without its last end', key, { body: key.trim(), type: 'text/plain' }],
  ['a key of several lines in one', `${key.trim()}`, { body: key.trim().replaceAll('\n', ' ') }],
  [
    'a key of several lines in a field of one',
    `${key.trim()}`,
    { body: key.trim().replaceAll('\n', '') },
  ],
  ['control: gzip in base64', canary, { body: `{"state":"${zipped}"}` }],
  [
    'gzip in base64 in lines of 76',
    canary,
    { body: zipped.replaceAll(/.{76}/g, '$&\n'), type: 'text/plain' },
  ],
  [
    'gzip in base64 in a parameter',
    canary,
    { body: '', headers: { 'x-next': `/in?state=${encodeURIComponent(zipped)}` } },
  ],
  [
    'gzip in base64 in JSON of PHP',
    canary,
    { body: JSON.stringify({ state: zipped }).replaceAll('/', '\\/') },
  ],
  [
    'raw deflate in base64 (SAML)',
    canary,
    { body: `<input name="SAMLRequest" value="${deflateRawSync(state).toString('base64')}">` },
  ],
  ['HTML Markdown', 'my_secret_pass_12', { body: 'my<em>secret</em>pass_12' }],
]

test.each(cases)('%s', async (_, password, given) => {
  page = given
  const credential_id = await entryOf(world, agent, {
    site: origin,
    username: `me${randomUUID()}`,
    password,
  })
  await approvePlace(world, credential_id, { name: 'pass', path: '/login' })

  const answer = await agent.post('/vault-use', {
    credential_id,
    method: 'POST',
    path: '/login',
    inject,
  })

  expect(answer.status).toBe(200)
  const { removed, withheld = null, response } = answer.body
  expect(removed !== 0 || withheld !== null, JSON.stringify(response).slice(0, 400)).toBe(true)
})
