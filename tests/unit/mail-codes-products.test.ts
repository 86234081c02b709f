import { expect, test } from 'vitest'
import { visibleText } from '../../shared/mail/untrusted.ts'
import { sealPlaces } from '../../shared/mailbox/codes/code-places.ts'
import { findCodes } from '../../shared/mailbox/codes/codes.ts'
import { htmlText } from '../../shared/mailbox/html/html-text.ts'
import { casesOf } from '../support/cases.ts'
import type { ProductMail } from '../support/mail-corpus/products.ts'
import { ordinaryMails, productMails, products } from '../support/mail-corpus/products.ts'
import {
  firstSightMails,
  firstSightOrdinaryMails,
  firstSightProducts,
  laterOrdinaryMails,
  secondMails,
  sourcedMails,
  sourcedOrdinaryMails,
  sourcedProducts,
} from '../support/mail-corpus/sourced.ts'

/** Returns the texts of a mail as an agent reads them. */
function sealedTexts({ subject, text, html }: ProductMail) {
  const texts = [visibleText(text), visibleText(htmlText(html).text)]
  const places = findCodes({ subject, texts })
  return [subject, ...texts].map((original, at) => ({
    original,
    sealed: sealPlaces(original, [places.subject, ...places.texts][at] ?? [], () => 'c_x'),
  }))
}

/** Removes spaces and hyphens, which serve only the eye. */
const bare = (text: string) => text.normalize('NFKC').replaceAll(/[\s-]/g, '')

/** Returns true if the bare text holds the secret or five consecutive characters of it. */
function isTold(secret: string, text: string): boolean {
  const signs = bare(secret)
  if (/^https?:/.test(secret)) return text.includes(signs)
  const length = Math.min(5, signs.length)
  return Array.from({ length: signs.length - length + 1 }, (_, at) =>
    signs.slice(at, at + length),
  ).some((part) => text.includes(part))
}

/** Counts each secret once per text of a mail that holds it. */
function tellingsOf(mails: readonly ProductMail[]) {
  const told: string[] = []
  let all = 0
  for (const mail of mails) {
    for (const { original, sealed } of sealedTexts(mail)) {
      const [before, after] = [bare(original), bare(sealed)]
      for (const secret of mail.secrets) {
        if (!before.includes(bare(secret))) continue
        all += 1
        if (isTold(secret, after)) told.push(`${mail.template}: ${secret}\n${sealed}`)
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
  'of the secrets in mails of products (%s) at least 99.7 in a hundred are sealed whole',
  (part) => {
    const { all, told } = tellingsOf(productMails(part, casesOf(1_500)))

    expect(all).toBeGreaterThan(casesOf(3_000))
    expect(told.length / all, told.slice(0, 60).join('\n\n')).toBeLessThanOrEqual(0.003)
  },
  60_000,
)

/** Returns the ordinary mails in which anything is sealed. */
function touchedOf(mails: readonly ProductMail[]): string[] {
  return mails.flatMap((mail) => {
    const touched = sealedTexts(mail).find(({ original, sealed }) => original !== sealed)
    return touched ? [`${mail.template}\n${touched.original}\n->\n${touched.sealed}`] : []
  })
}

test.each(['tuning', 'held-back'] as const)(
  'of ordinary mails (%s) at most one in a hundred has anything sealed',
  (third) => {
    const mails = ordinaryMails(third, casesOf(1_500))

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

test('each product of the sets measured at first sight says where it is from', () => {
  const all = (['fresh', 'business', 'layout', 'services', 'systems'] as const).flatMap(
    firstSightProducts,
  )

  expect(all.length).toBeGreaterThanOrEqual(200)
  for (const { source } of all) expect(source).not.toBe('')
})

test.each([
  ['open', () => sourcedMails('open', casesOf(1_000))],
  ['held-back', () => sourcedMails('held-back', casesOf(1_000))],
  ['second set', () => secondMails(casesOf(1_000))],
  ['fresh', () => firstSightMails('fresh', casesOf(1_000))],
  ['business', () => firstSightMails('business', casesOf(1_000))],
  ['layout', () => firstSightMails('layout', casesOf(1_000))],
  ['services', () => firstSightMails('services', casesOf(1_000))],
  ['systems', () => firstSightMails('systems', casesOf(1_000))],
] as const)(
  'of the secrets in mails of sourced products (%s) at least 99.7 in a hundred are sealed whole',
  (_part, mailsOf) => {
    const { all, told } = tellingsOf(mailsOf())

    expect(all).toBeGreaterThan(casesOf(2_000))
    expect(told.length / all, told.slice(0, 60).join('\n\n')).toBeLessThanOrEqual(0.003)
  },
  60_000,
)

test.each([
  ['open', () => sourcedOrdinaryMails('open', casesOf(1_000))],
  ['held-back', () => sourcedOrdinaryMails('held-back', casesOf(1_000))],
  ['second set', () => laterOrdinaryMails('second', casesOf(1_000))],
  ['third set', () => laterOrdinaryMails('third', casesOf(1_000))],
  ['fresh', () => firstSightOrdinaryMails('fresh', casesOf(1_000))],
  ['business', () => firstSightOrdinaryMails('business', casesOf(1_000))],
  ['layout', () => firstSightOrdinaryMails('layout', casesOf(1_000))],
  ['services', () => firstSightOrdinaryMails('services', casesOf(1_000))],
  ['systems', () => firstSightOrdinaryMails('systems', casesOf(1_000))],
] as const)(
  'of ordinary mails of such products (%s) at most one in a hundred has anything sealed',
  (_part, mailsOf) => {
    const mails = mailsOf()

    const wrong = touchedOf(mails)

    expect(wrong.length / mails.length, wrong.slice(0, 30).join('\n\n')).toBeLessThanOrEqual(0.01)
  },
  60_000,
)
