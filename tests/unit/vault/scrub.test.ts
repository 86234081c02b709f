import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { redactorFor, removedMark } from '../../../shared/vault/scrub.ts'
import { echoes, removedEchoes } from '../../support/hostile-echo.ts'
import { randomBytes } from '../../support/seed.ts'

const around = { before: 'You said: ', after: ', and that was it.' }
const secrets = [
  'Canary-1 horse "battery"',
  'Grünkohl-Schüssel-77',
  "O'Brien\\x+/&<b>%41",
  'κωδικός 4711',
]
test.each(removedEchoes)('a secret is removed as %s, and nothing else is', (name) => {
  for (const secret of secrets) {
    const { text, removed } = redactorFor([secret])(String(echoes[name]?.(secret, around)))

    expect(removed, `${secret} ${text}`).toBe(1)
    if (text.startsWith('You')) {
      expect(text).toBe(`You said: ${removedMark}, and that was it.`)
    }
  }
})

test('a secret is removed from base64 wherever it stands in the bytes, in both alphabets', () => {
  for (let before = 0; before < 9; before += 1) {
    const secret = `${randomBytes(9).toString('hex')}?>~ÿ`
    const bytes = Buffer.concat([randomBytes(before), Buffer.from(secret), randomBytes(5)])
    for (const encoding of ['base64', 'base64url'] as const) {
      const { text, removed } = redactorFor([secret])(bytes.toString(encoding))

      expect(removed).toBe(1)
      // The rest of it has less than two bytes at either end.
      expect(text.replace(removedMark, '').length).toBeLessThan(
        Math.ceil(((before + 5) * 4) / 3) + 4,
      )
    }
  }
})

test('a key of some kilobytes is removed whole, in lines and escaped', () => {
  const lines = Array.from({ length: 60 }, (_, at) =>
    createHash('sha256').update(`${at}`).digest('base64'),
  )
  const key = `-----BEGIN KEY-----\n${lines.join('\n')}\n-----END KEY-----`
  const redact = redactorFor([key])

  for (const written of [key, JSON.stringify(key).slice(1, -1), encodeURIComponent(key)]) {
    expect(redact(`(${written})`)).toEqual({ text: `(${removedMark})`, removed: 1 })
  }
  expect(redact(`(${key.slice(1)})`).removed).toBe(0)
})

test('a secret that repeats itself is found wherever it begins', () => {
  const secret = `${'a'.repeat(60)}1`

  expect(redactorFor([secret])(`${'a'.repeat(30)}${secret}`)).toEqual({
    text: `${'a'.repeat(30)}${removedMark}`,
    removed: 1,
  })
})

test('a text that nearly repeats a long secret is cut after a thousand starts', () => {
  const nearly = `${'a'.repeat(1_023)}b`
  const { text, removed } = redactorFor(['a'.repeat(1_024)])(nearly.repeat(256))

  expect([removed, text.endsWith(removedMark)]).toEqual([1, true])
  // Comparing to the end at each start of 256 KB would take seconds.
  expect(text.length).toBeLessThan(2_000)
})

test('of two secrets of which one begins with the other, the longer is removed whole', () => {
  const redact = redactorFor(['correct horse', 'correct horse battery'])

  expect(redact('correct horse battery, correct horse').text).toBe(`${removedMark}, ${removedMark}`)
})

test('a text without the secret is shown as it is', () => {
  const text = Object.values(echoes)
    .map((echo) => String(echo('another secret altogether', around)))
    .join('\n')

  expect(redactorFor([...secrets, ''])(text)).toEqual({ text, removed: 0 })
  expect(redactorFor([])(text)).toEqual({ text, removed: 0 })
})
