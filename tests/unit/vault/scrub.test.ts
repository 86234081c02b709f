import { randomBytes, randomInt } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { type ScrubbedAnswer, scrubberFor } from '../../../shared/vault/scrub.ts'
import { echoes, spreadEchoes } from '../../support/hostile-echo.ts'

const printable = Array.from({ length: 94 }, (_, at) => String.fromCharCode(33 + at)).join('')
const letters = 'abcdefghijklmnopqrstuvwxyz'
const of = (alphabet: string, length: number) => {
  const characters = Array.from(alphabet)
  return Array.from({ length }, () => characters[randomInt(characters.length)]).join('')
}

/** Makers of secrets; two of one call have the same length and nothing else in common. */
const kinds = {
  password: () => of(printable, 24),
  'short password': () => of(letters + letters.toUpperCase() + '23456789', 8),
  token: () => randomBytes(20).toString('hex'),
  passphrase: () => Array.from({ length: 4 }, () => of(letters, 5)).join(' '),
  'international password': () => of(`éñ漢字😀${letters}`, 12),
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

/**
 * The answer to a secret has to be the very same as to another secret: then it tells nothing of it,
 * not even one bit in the digits beside it.
 */
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

const offsets = Array.from({ length: 13 }, (_, at) => ({
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
