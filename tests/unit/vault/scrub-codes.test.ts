/** Codes and PINs are removed from answers, although their few digits occur in many texts by chance. */
import { expect, test } from 'vitest'
import { scrubberFor } from '../../../shared/vault/scrub.ts'

const code = '604918'
const digits = Array.from(code)

function scrubbed(secret: string, text: string) {
  return scrubberFor([secret])({ headers: [], body: Buffer.from(text), truncated: false })
}

test.each([
  ['spaces', digits.join(' ')],
  ['dashes', digits.join('-')],
  ['a list', JSON.stringify(digits)],
  ['a list of numbers', digits.join(', ')],
  ['a tight list of numbers', digits.join(',')],
  ['an indented list', JSON.stringify(digits, null, 2)],
  ['lines', digits.join('\n')],
  ['escaped lines', digits.join('\\n')],
  ['boxes', `<b>${digits.join('</b><b>')}</b>`],
  ['spans', `<span>${digits.join('</span><span>')}</span>`],
  ['cells', `<td>${digits.join('</td><td>')}</td>`],
])('a code with its digits apart by %s is removed', async (_, written) => {
  const answer = await scrubbed(code, `The code: ${written}.`)

  expect(answer).toMatchObject({ removed: 1 })
  expect('body' in answer && answer.body.replaceAll(/[^0-9]/g, '')).toBe('')
})

test('a code is removed between other digits', async () => {
  expect(await scrubbed(code, `77${code}33, 1${code}`)).toMatchObject({
    body: '77[secret removed]33, 1[secret removed]',
  })
})

test('a table of numbers stays as it is', async () => {
  const numbers = Array.from({ length: 40_000 }, (_, at) => (at * 7_919) % 10)
  for (const by of [' ', ', ', '","', '</td><td>', '\n']) {
    const text = numbers.join(by).replaceAll(digits.join(by), '')
    expect(await scrubbed(code, text)).toMatchObject({ body: text, removed: 0 })
  }
})

test.each(['', 'x', 'xy', 'xyz'])(
  'behind %j, base64 of a code of four digits and of another number are removed alike',
  async (before) => {
    const written = (code: string) => Buffer.from(before + code + before).toString('base64')
    const [one, other] = await Promise.all(
      ['4711', '9302'].map((said) => scrubbed('4711', `It is ${written(said)}.`)),
    )

    expect(one).toMatchObject({ removed: 1 })
    expect(one).toEqual(other)
  },
)
