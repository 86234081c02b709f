/**
 * An agent that makes a site repeat guesses cannot learn a secret from the missing ones. For two secrets
 * that differ only in what must stay unknown, the same text is missing in every answer.
 */
import { expect, test } from 'vitest'
import { mulberry32 } from '../../../scripts/local/random.ts'
import { removedMark, type Scrubber, scrubberFor } from '../../../shared/vault/scrub.ts'
import { echoes, spreadEchoes } from '../../support/hostile-echo.ts'

const next = mulberry32(20_261_127)
const around = { before: 'You said: ', after: ', and that was it.' }
const bodyBytes = 256 * 1024

async function shown(scrub: Scrubber, body: string | Buffer) {
  const scrubbed = await scrub({ headers: [], body: Buffer.from(body), truncated: false })
  if ('withheld' in scrubbed) throw new Error(scrubbed.withheld)
  return scrubbed
}

/** Returns the rest of each answer that repeats one of the secrets, with either of them to be removed. */
async function answersTo(pair: readonly [string, string]) {
  const scrubbers = pair.map((secret) => scrubberFor([secret]))
  const all = Object.entries({ ...echoes, ...spreadEchoes })
  return Promise.all(
    all.map(async ([name, echo]) => {
      const [one, other] = await Promise.all(
        pair.map((said) => Promise.all(scrubbers.map((scrub) => shown(scrub, echo(said, around))))),
      )
      return { name, one, other }
    }),
  )
}

test.each([
  ['codes', '604918', '937045'],
  ['codes of eight digits', '60491853', '93704529'],
  ['long numbers', '4111222233334444', '7444885566067174'],
  ['passwords with a year', 'Summer-2024', 'Summer-2327'],
  ['pairs of Basic authentication', 'ada:604918', 'ada:937045'],
  ['links', 'https://a.example/in?otp=604918', 'https://a.example/in?otp=937045'],
])('no answer tells two %s from each other, in whatever form it has them', async (_, ...pair) => {
  for (const { name, one, other } of await answersTo(pair)) {
    expect(one?.[0]?.removed, name).toBeGreaterThan(0)
    expect(one?.[1], name).toEqual(one?.[0])
    expect(other, name).toEqual(one)
  }
})

test.each([
  ['digits', '4711', '9302'],
  ['letters', 'KDFE', 'bzto'],
  ['both', 'K7QX2', 'b3ZT9'],
])('of guesses at a short code of %s the same are missing as for another', async (_, ...pair) => {
  for (const { name, one, other } of await answersTo(pair)) {
    for (const answers of [one, other]) expect(answers?.[1], name).toEqual(answers?.[0])
    if (name === 'plain') expect(one?.[0]?.body).not.toContain(pair[0])
  }
})

test('who has all numbers said is left with thousands that a code of six digits may be', async () => {
  // For speed only a fifth of all numbers: those that begin with the first or the last digit of the code.
  const all = Array.from({ length: 1_000_000 }, (_, at) => String(at).padStart(6, '0'))
  const said = all.filter((one) => one.startsWith('6') || one.startsWith('8'))

  const left = await missing('604918', said)
  const other = left[next() % left.length] ?? ''
  const some = left.filter(() => next() % 10 === 0).toReversed()

  // The digits like 0, 4, 9, 1 and 8 number 4, 3, 4, 3 and 3; backwards they are like 1, 9, 4, 0 and 6.
  expect(left).toHaveLength(4 * 3 * 4 * 3 * 3 + 3 * 4 * 3 * 4 * 4)
  expect(left).toContain('604918')
  for (const code of ['604918', other]) expect(await missing(code, some)).toEqual(some)
})

/** Returns the numbers that are missing when answers repeat all of the possible ones. */
async function missing(secret: string, possible: readonly string[]): Promise<string[]> {
  const scrub = scrubberFor([secret])
  const onPage = Math.floor(bodyBytes / 7)
  const left: string[] = []
  for (let at = 0; at < possible.length; at += onPage) {
    const said = possible.slice(at, at + onPage)
    const { body } = await shown(scrub, said.join('\n'))
    const seen = new Set(body.split('\n'))
    for (const one of said) if (!seen.has(one)) left.push(one)
  }
  return left
}

test('of other numbers of six digits, two in a thousand go missing with a code', async () => {
  const scrub = scrubberFor(['604918'])
  const numbers = Array.from({ length: 30_000 }, () => String(100_000 + (next() % 900_000)))

  const { body } = await shown(scrub, numbers.join('\n'))

  expect(body.split(removedMark).length - 1).toBeLessThan(30_000 / 200)
})
