import { expect, test } from 'vitest'
import { visibleText } from '../../shared/mail/untrusted.ts'
import { sealPlaces } from '../../shared/mailbox/codes/code-places.ts'
import { findCodes } from '../../shared/mailbox/codes/codes.ts'
import { htmlText } from '../../shared/mailbox/html/html-text.ts'
import type { CorpusMail, Half } from '../support/mail-corpus/generate.ts'
import { corpus, languages } from '../support/mail-corpus/generate.ts'

type Count = { all: number; missed: string[] }
type Figures = Record<'codes' | 'links' | 'others' | 'harmlessLinks', Count>

/** Counts each secret or number once per text of a mail that holds it. */
function measure(mails: readonly CorpusMail[]): Figures {
  const empty = (): Count => ({ all: 0, missed: [] })
  const figures = { codes: empty(), links: empty(), others: empty(), harmlessLinks: empty() }
  for (const mail of mails) {
    const texts = [visibleText(mail.text), visibleText(htmlText(mail.html).text)]
    const { subject, texts: places } = findCodes({ subject: mail.subject, texts })
    const parts = [mail.subject, ...texts].map((text, at) => ({
      text,
      sealed: sealPlaces(text, at === 0 ? subject : (places[at - 1] ?? []), () => 'c_x'),
    }))
    for (const { text, sealed } of parts) {
      for (const kind of ['codes', 'links'] as const) {
        count(figures[kind], mail, text, sealed, mail[kind], (value) =>
          bare(sealed).includes(bare(value)),
        )
      }
      for (const kind of ['others', 'harmlessLinks'] as const) {
        count(
          figures[kind],
          mail,
          text,
          sealed,
          mail[kind],
          (value) => !bare(sealed).includes(bare(value)),
        )
      }
    }
  }
  return figures
}

function count(
  figure: Count,
  mail: CorpusMail,
  text: string,
  sealed: string,
  values: readonly string[],
  isWrong: (value: string) => boolean,
) {
  for (const value of values.filter((one) => bare(text).includes(bare(one)))) {
    figure.all += 1
    if (isWrong(value)) figure.missed.push(`${mail.template} ${value}\n${sealed}`)
  }
}

/** Removes spaces and hyphens, which serve only the eye. */
function bare(text: string): string {
  return text.normalize('NFKC').replaceAll(/[\s-]/g, '')
}

const shareOf = ({ all, missed }: Count) => missed.length / all

test.each<Half>(['tuning', 'held-out'])(
  'of the codes and links of 1,000 mails (%s half) at least 99.5 in a hundred are sealed, of other numbers at most one',
  (half) => {
    const mails = corpus(half, 1_000)

    const { codes, links, others, harmlessLinks } = measure(mails)

    expect(new Set(mails.map(({ template }) => template.slice(0, 2)))).toEqual(new Set(languages))
    expect([codes.all, links.all, others.all, harmlessLinks.all].every((all) => all > 300)).toBe(
      true,
    )
    expect(shareOf(codes), codes.missed.join('\n\n')).toBeLessThanOrEqual(0.005)
    expect(shareOf(links), links.missed.join('\n\n')).toBeLessThanOrEqual(0.005)
    expect(shareOf(others), others.missed.join('\n\n')).toBeLessThanOrEqual(0.01)
    expect(shareOf(harmlessLinks), harmlessLinks.missed.join('\n\n')).toBeLessThanOrEqual(0.01)
  },
)
