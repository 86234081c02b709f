/** Secrets are removed in other spellings, and texts that only resemble one stay. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { mulberry32 } from '../../../scripts/local/random.ts'
import { scrubberFor } from '../../../shared/vault/scrub.ts'

const next = mulberry32(20_261_127)

function scrubbed(secrets: string[], text: string) {
  return scrubberFor(secrets)({ headers: [], body: Buffer.from(text), truncated: false })
}

test.each([
  ['Canary-1 horse', 'It is “CANARY‑1  hôrse”, he said.', 'It is “[secret removed]”, he said.'],
  ['Grünkohl-77', 'a GRUENKOHL 77 b', 'a [secret removed] b'],
  ['Grünkohl-77', 'a Gr&uuml;n<b class="x">kohl</b>-77 b', 'a [secret removed] b'],
  ['Grünkohl-77', 'a Gru\u0308nkohl_77 b', 'a [secret removed] b'],
  ['Geheim-Čapek-7', 'a Geheim-?apek-7 b', 'a [secret removed] b'],
  ['kohl-Čapék', 'a Kohl Cape\u0301k\u0301 b', 'a [secret removed] b'],
  ['"Canary-1"', '(“Canary_1”)', '([secret removed])'],
  ['aB3xY7q', 'x=aB3-xY7q;', 'x=[secret removed];'],
  ['aB3xY7q', '<a href="/s/ａＢ３ｘＹ７ｑ">', '<a href="/s/[secret removed]">'],
  ['Straße-1234', 'STRASSE 1234', '[secret removed]'],
])('of %j written as %j nothing else is removed', async (secret, text, body) => {
  expect(await scrubbed([secret], text)).toEqual({ headers: [], body, removed: 1 })
})

test.each([
  ['a word of seven letters', 'theirs,', 'What the irs, and the ir s said.'],
  ['signs with few letters', '--a-1-b--', 'a1b, A 1 B, a.1.b'],
])('%s within other signs is not taken for a secret', async (_, secret, text) => {
  expect(await scrubbed([secret], text)).toMatchObject({ body: text, removed: 0 })
})

test('no text of ours holds a secret that was drawn', async () => {
  const texts = ['README.md', 'package-lock.json', 'tests/unit/vault/scrub.test.ts'].map((path) =>
    readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8'),
  )
  const alphabet = Array.from('abcdefghijklmnopqrstuvwxyz23456789-_.!')
  const drawn = (length: number) =>
    Array.from({ length }, () => alphabet[next() % alphabet.length]).join('')
  const secrets = Array.from({ length: 60 }, (_, at) => drawn(8 + (at % 12)))

  for (const text of texts) {
    expect(await scrubbed(secrets, text)).toMatchObject({ body: text, removed: 0 })
  }
})

test('an answer in another encoding than it names is withheld where that hides a secret', async () => {
  const answer = (text: string) =>
    scrubberFor(['Canary-1-horse'])({
      headers: [['content-type', 'text/html; charset=utf-16le']],
      body: Buffer.from(text),
      truncated: false,
    })

  expect(await answer('Canary-1-horse')).toEqual({ withheld: 'not_text' })
  expect(await answer('Canary-2-horse')).toHaveProperty('body')
})
