import { expect, test } from 'vitest'
import { visibleText } from '../../shared/mail/untrusted.ts'
import { sealPlaces } from '../../shared/mailbox/code-places.ts'
import { findCodes } from '../../shared/mailbox/codes.ts'
import { htmlText } from '../../shared/mailbox/html-text.ts'
import type { ProductMail } from '../support/mail-corpus/products.ts'
import { ordinaryMails, productMails, products } from '../support/mail-corpus/products.ts'
import {
  laterOrdinaryMails,
  secondMails,
  sourcedMails,
  sourcedOrdinaryMails,
  sourcedProducts,
} from '../support/mail-corpus/sourced.ts'

/** The texts of a mail as an agent reads them. */
function sealedTexts({ subject, text, html }: ProductMail) {
  const texts = [visibleText(text), visibleText(htmlText(html).text)]
  const places = findCodes({ subject, texts })
  return [subject, ...texts].map((original, at) => ({
    original,
    sealed: sealPlaces(original, [places.subject, ...places.texts][at] ?? [], () => 'c_x'),
  }))
}

/** Without what is only for the eye. */
const bare = (text: string) => text.normalize('NFKC').replaceAll(/[\s-]/g, '')

/** Whether a part of a secret is told: all of it, or five of its signs in a row. */
function isTold(secret: string, sealed: string): boolean {
  if (/^https?:/.test(secret)) return bare(sealed).includes(bare(secret))
  const signs = bare(secret)
  const length = Math.min(5, signs.length)
  return Array.from({ length: signs.length - length + 1 }, (_, at) =>
    signs.slice(at, at + length),
  ).some((part) => bare(sealed).includes(part))
}

/** Each secret counts once for each text of a mail that it stands in. */
function tellingsOf(mails: readonly ProductMail[]) {
  const told: string[] = []
  let all = 0
  for (const mail of mails) {
    for (const { original, sealed } of sealedTexts(mail)) {
      for (const secret of mail.secrets) {
        if (!bare(original).includes(bare(secret))) continue
        all += 1
        if (isTold(secret, sealed)) told.push(`${mail.template}: ${secret}\n${sealed}`)
      }
    }
  }
  return { all, told }
}

test('the corpus has the usual products, and each names where it is from', () => {
  const names = products.map(({ name }) => name).join()

  expect(products.length).toBeGreaterThanOrEqual(30)
  expect(new Set(products.map(({ name }) => name)).size).toBe(products.length)
  for (const one of ['Cognito', 'Auth0', 'Firebase', 'Supabase', 'Keycloak', 'Slack', 'Notion']) {
    expect(names).toContain(one)
  }
  for (const { source } of products) expect(source).toMatch(/^[a-z0-9.-]+\.[a-z]+\/\S+$/)
})

test.each(['tuning', 'held-back', 'repositories'] as const)(
  'of the secrets in 1,500 mails of products (%s) at least 99.7 in a hundred are sealed whole',
  (part) => {
    const { all, told } = tellingsOf(productMails(part, 1_500))

    expect(all).toBeGreaterThan(3_000)
    expect(told.length / all, told.slice(0, 60).join('\n\n')).toBeLessThanOrEqual(0.003)
  },
  60_000,
)

/** The ordinary mails in which anything is sealed. */
function touchedOf(mails: readonly ProductMail[]): string[] {
  return mails.flatMap((mail) => {
    const touched = sealedTexts(mail).find(({ original, sealed }) => original !== sealed)
    return touched ? [`${mail.template}\n${touched.original}\n->\n${touched.sealed}`] : []
  })
}

test.each(['tuning', 'held-back'] as const)(
  'of 1,500 ordinary mails (%s) at most one in a hundred has anything sealed',
  (third) => {
    const mails = ordinaryMails(third, 1_500)

    const wrong = touchedOf(mails)

    expect(wrong.length / mails.length, wrong.slice(0, 30).join('\n\n')).toBeLessThanOrEqual(0.01)
  },
  60_000,
)

test('the sourced products are others, and each names a file of a public repository', () => {
  const names = sourcedProducts.map(({ name }) => name)

  expect(names.length).toBeGreaterThanOrEqual(130)
  expect(new Set([...names, ...products.map(({ name }) => name)]).size).toBe(
    names.length + products.length,
  )
  for (const { source } of sourcedProducts)
    expect(source).toMatch(/^github\.com\/[\w.-]+\/[\w.-]+\/\S+$/)
})

test.each([
  ['open', () => sourcedMails('open', 1_000)],
  ['held-back', () => sourcedMails('held-back', 1_000)],
  ['second set', () => secondMails(1_000)],
] as const)(
  'of the secrets in 1,000 mails of sourced products (%s) at least 99.7 in a hundred are sealed whole',
  (_part, mailsOf) => {
    const { all, told } = tellingsOf(mailsOf())

    expect(all).toBeGreaterThan(2_000)
    expect(told.length / all, told.slice(0, 60).join('\n\n')).toBeLessThanOrEqual(0.003)
  },
  60_000,
)

test.each([
  ['open', () => sourcedOrdinaryMails('open', 1_000)],
  ['held-back', () => sourcedOrdinaryMails('held-back', 1_000)],
  ['second set', () => laterOrdinaryMails('second', 1_000)],
  ['third set', () => laterOrdinaryMails('third', 1_000)],
] as const)(
  'of 1,000 ordinary mails of such products (%s) at most one in a hundred has anything sealed',
  (_part, mailsOf) => {
    const mails = mailsOf()

    const wrong = touchedOf(mails)

    expect(wrong.length / mails.length, wrong.slice(0, 30).join('\n\n')).toBeLessThanOrEqual(0.01)
  },
  60_000,
)
