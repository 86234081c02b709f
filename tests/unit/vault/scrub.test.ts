import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { mulberry32 } from '../../../scripts/local/random.ts'
import { removedMark, type ScrubbedAnswer, scrubberFor } from '../../../shared/vault/scrub.ts'
import { casesOf } from '../../support/cases.ts'
import { echoes, spreadEchoes } from '../../support/hostile-echo.ts'

// The seed is fixed, so a failure repeats.
const next = mulberry32(20_261_121)
const randomInt = (from: number, end?: number): number =>
  end === undefined ? next() % from : from + (next() % (end - from))
const randomBytes = (length: number) => Buffer.from(Array.from({ length }, () => randomInt(256)))

const printable = Array.from({ length: 94 }, (_, at) => String.fromCharCode(33 + at)).join('')
const letters = 'abcdefghijklmnopqrstuvwxyz'
const of = (alphabet: string, length: number) => {
  const characters = Array.from(alphabet)
  return Array.from({ length }, () => characters[randomInt(characters.length)]).join('')
}

/**
 * Makers of secrets; two secrets of one kind take the same number of bytes and share nothing else. Some
 * begin and end with letters, because other characters may merge with the text around them, and more is
 * removed then.
 */
const kinds = {
  password: () => of(letters, 1) + of(printable, 22) + of(letters, 1),
  'short password': () => of(`${letters}${letters.toUpperCase()}23456789`, 8),
  token: () => randomBytes(20).toString('hex'),
  passphrase: () => Array.from({ length: 4 }, () => of(letters, 5)).join(' '),
  international: () => ['xy', 'éñ', '漢字', letters, '😀😁', letters].map((a) => of(a, 2)).join(''),
}

const answerOf = (body: string | Uint8Array, headers: [string, string][] = []) => ({
  headers,
  body: typeof body === 'string' ? Buffer.from(body) : body,
  truncated: false,
})

function shown(answer: ScrubbedAnswer) {
  if ('withheld' in answer) throw new Error(answer.withheld)
  return answer
}

/** Asserts equal answers for two secrets, which reveal not even one bit in the digits beside them. */
async function tellsNothing(
  echo: (typeof echoes)[string],
  secret: () => string,
  around: { before: string; after: string },
) {
  const [one, other] = await Promise.all(
    [secret(), secret()].map(async (value) => {
      const { body, removed } = shown(await scrubberFor([value])(answerOf(echo(value, around))))
      expect(removed, value).toBeGreaterThan(0)
      return body
    }),
  )
  expect(one).toBe(other)
}

const offsets = Array.from({ length: casesOf(10) }, (_, at) => ({
  before: 'The word is here: '.slice(at) + of(letters, at % 4),
  after: of(letters, at % 3) + ', and more of it follows.'.slice(at % 5),
}))

test.each(Object.keys(echoes))('nothing of a secret comes back as %s', async (name) => {
  const echo = echoes[name] ?? (() => '')
  for (const secret of Object.values(kinds)) {
    for (const around of offsets) await tellsNothing(echo, secret, around)
  }
})

test.each(Object.keys(spreadEchoes))('nothing of a secret comes back with %s', async (name) => {
  const echo = spreadEchoes[name] ?? (() => '')
  for (const secret of Object.values(kinds)) {
    for (const around of offsets) await tellsNothing(echo, secret, around)
  }
})

test('a secret with any characters at its ends is removed in every encoding', async () => {
  for (const [name, echo] of [...Object.entries(echoes), ...Object.entries(spreadEchoes)]) {
    const secret = of(printable, 12)
    const { body, removed } = shown(
      await scrubberFor([secret])(answerOf(echo(secret, { before: 'It is ', after: ' here.' }))),
    )
    expect(removed, `${name}: ${secret}`).toBeGreaterThan(0)
    expect(body).not.toContain(secret)
  }
})

/** Returns another code whose digits are the same modulo three. */
function codeLike(code: string): string {
  return code.replaceAll(/./g, (digit) => {
    const alike = Array.from('0123456789').filter((one) => (Number(one) - Number(digit)) % 3 === 0)
    return alike[randomInt(alike.length)] ?? digit
  })
}

test('one-time codes are removed wherever their digits stand together', async () => {
  for (const [, echo] of Object.entries(echoes)) {
    for (const around of offsets.slice(0, 3)) {
      const code = String(randomInt(100_000, 1_000_000))
      await tellsNothing(echo, () => codeLike(code), around)
    }
  }
})

test('texts without the secret come back byte for byte', async () => {
  const texts = [
    readFileSync(new URL('../../../README.md', import.meta.url), 'utf8'),
    readFileSync(new URL('../../../package-lock.json', import.meta.url), 'utf8'),
    randomBytes(150_000).toString('base64'),
    randomBytes(120_000).toString('hex'),
    Array.from({ length: 20_000 }, () => randomInt(1_000_000)).join(', '),
    Array.from({ length: 3_000 }, () => gzipSync(randomBytes(9)).toString('base64'))
      .join(' ')
      .slice(0, 400),
    JSON.stringify({ a: 'é\n', b: Array.from({ length: 9_000 }, (_, at) => at % 256) }),
    encodeURIComponent(randomBytes(60_000).toString('latin1')),
  ]
  for (const secret of Object.values(kinds)) {
    const scrub = scrubberFor([secret()])
    for (const text of texts) {
      const { body, removed } = shown(await scrub(answerOf(text)))
      expect(removed).toBe(0)
      expect(body === text).toBe(true)
    }
  }
})

test('headers are scrubbed in their names and values, several secrets at once', async () => {
  const [one, other] = ['correct horse', 'tok-4711-xyz']
  const headers: [string, string][] = [
    ['set-cookie', `session=${encodeURIComponent(one)}; Path=/`],
    [`x-${other}`, 'plain'],
    ['content-type', 'text/html'],
  ]

  const answer = await scrubberFor([one, other, ''])(answerOf(`a ${one} b ${other} c`, headers))

  expect(answer).toEqual({
    headers: [
      ['set-cookie', `session=${removedMark}; Path=/`],
      [`x-${removedMark}`, 'plain'],
      ['content-type', 'text/html'],
    ],
    body: `a ${removedMark} b ${removedMark} c`,
    removed: 4,
  })
})

test('of an answer that was cut, the end that could hold half a secret is not shown', async () => {
  const secret = of(printable, 20)
  const cut = (length: number) => ({
    ...answerOf(`${'a'.repeat(1000)}${secret}`.slice(0, 1000 + length)),
    truncated: true,
  })

  const answers = await Promise.all(
    [1, 7, 19].map(async (length) => shown(await scrubberFor([secret])(cut(length))).body),
  )

  for (const body of answers) expect(body).toMatch(/^a{600,}\[secret removed\]$/)
})

test('a cut in the middle of a character leaves the answer readable', async () => {
  const body = Buffer.from('ä'.repeat(900)).subarray(0, 1799)

  const answer = await scrubberFor(['correct horse'])({ headers: [], body, truncated: true })

  expect(shown(answer).body).toMatch(/^ä+\[secret removed\]$/)
})

test('a secret that was escaped before it became base64 is removed', async () => {
  const secret = 'a "quoted" & <tagged> \\ word'
  const html = 'a &quot;quoted&quot; &amp; &lt;tagged&gt; \\ word'

  for (const escaped of [encodeURIComponent(secret), JSON.stringify({ secret }), html]) {
    for (const before of ['', 'x', 'xy']) {
      const echo = Buffer.from(`${before}${escaped}`).toString('base64')
      const { body, removed } = shown(await scrubberFor([secret])(answerOf(`It is ${echo}.`)))
      expect(removed, escaped).toBe(1)
      expect(Buffer.from(body, 'base64').toString()).not.toMatch(/quot|word/)
    }
  }
})

test.each([
  ['604918', ['604 918', '604-918', '604,918', '60 49 18', '604&nbsp;918']],
  ['6049185', ['604 9185', '6049 185', '6,049,185']],
  ['60491853', ['6049 1853', '60.491.853', '60 49 18 53']],
  ['4111222233334444', ['4111 2222 3333 4444', '4111-2222-3333-4444']],
])('the digits %s are removed in the groups that pages show them in', async (secret, written) => {
  const scrub = scrubberFor([secret])

  for (const one of written) {
    const shown = await scrub(answerOf(`It is ${one}.`))
    expect(shown, one).toMatchObject({ body: 'It is [secret removed].', removed: 1 })
  }
  expect(await scrub(answerOf('604 919, 604.917'))).toMatchObject({ removed: 0 })
})

test.each(['7', 'x9', 'Ab3$', 'é😀bc5'])('the short secret %s is removed', async (secret) => {
  const scrub = scrubberFor([secret])
  const around = { before: '(', after: ').' }

  const names = ['percent, lower case', 'JSON escapes', 'HTML hex', 'hex, lower case', 'reversed']
  for (const name of ['plain', ...names]) {
    const echo = String(echoes[name]?.(secret, around))
    for (const answer of [answerOf(echo), answerOf('Nothing.', [['~', echo]])]) {
      const { body, headers, removed } = shown(await scrub(answer))
      expect(removed, name).toBeGreaterThan(0)
      expect([body, headers].join()).not.toContain(echo)
    }
  }
  expect(await scrub(answerOf('Nothing.'))).toMatchObject({ body: 'Nothing.', removed: 0 })
})

test('what is no text is withheld, compressed or not', async () => {
  const scrub = scrubberFor(['correct horse'])
  const jpeg = Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 16])

  for (const body of [jpeg, gzipSync('correct horse'), Buffer.from('4f82', 'hex')]) {
    expect(await scrub(answerOf(body))).toEqual({ withheld: 'not_text' })
  }
  const unknown = answerOf('a', [['Content-Type', 'text/plain; charset=none-such']])
  expect(await scrub(unknown)).toEqual({ withheld: 'not_text' })
  const latin = answerOf(Buffer.from('Grüße', 'latin1'), [
    ['Content-Type', 'text/plain; charset="ISO-8859-1"'],
  ])
  expect(await scrub(latin)).toMatchObject({ body: 'Grüße' })
})

test('an answer made to be read in many ways is searched in bounded time', async () => {
  const scrub = scrubberFor(['%%%%%%%%%%%%', '\\\\\\\\\\\\\\\\', '&&&&&&&&', '0000000000'])
  const hostile = [
    '%25',
    '%',
    '\\',
    '&amp;',
    '0',
    '&#0',
    '\\u0000',
    '<',
    ' %',
    'eJx',
    'eJxAAAAAAAAA ',
    '1f8b08',
  ].map((part) => part.repeat(Math.floor(32_768 / part.length)))

  for (const body of hostile) expect(await scrub(answerOf(body))).toHaveProperty('body')
})

test('compressed texts that inflate to more than a megabyte together are removed unread', async () => {
  const runs = [0, 1, 2].map((at) => gzipSync(Buffer.alloc(600_000, `${at}`)).toString('base64'))
  const { body, removed } = shown(await scrubberFor(['correct horse'])(answerOf(runs.join(' , '))))

  expect(body).toContain(runs[0])
  expect(removed).toBe(2)
})
