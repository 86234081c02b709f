/**
 * Mails of products whose templates were read in their public repositories; the first line of each names
 * repository and path. They keep what is sent and how it is labelled, with secrets of the product's own
 * form. The sentences are ours. Of the first set, the third of the products whose names have the least
 * digests is held back. All of it, the ordinary mails too, was written down before the detector was read or
 * run. The first measurement of each part, before any fix for it:
 *
 * | part | secrets | sealed | templates all | ordinary mails with anything sealed |
 * | --- | --- | --- | --- | --- |
 * | first set, open | 6,467 | 86.15 % | 191 of 231 | 2.7 % of 3,000 |
 * | first set, held back, after rules for the open part | 8,498 | 99.06 % | 102 of 104 | 1.9 % of 4,000 |
 * | second set, after rules for both | 8,324 | 98.47 % | 73 of 75 | 11.3 % of 4,000 |
 * | third set of ordinary mails, after rules for the second | | | | 3.9 % of 4,000 |
 *
 * In the second set, half of the ordinary mails confirm a booking, and in the third, half confirm a
 * transfer, which no mail did before. The detector sealed numbers there that follow short labels without
 * naming a secret. No part is unseen any more.
 *
 * The three sets in `first-sight/` were written later, without knowledge of the detector: of various
 * services, of businesses, and in unusual layouts and prose. Of 209 products in them, 55 say that they are
 * from memory; the others name the public text in which the structure was read. The first measurement of
 * each, with 1,000 mails of either kind, after general rules for those above it:
 *
 * | set | secrets | sealed | templates all | ordinary mails with anything sealed |
 * | --- | --- | --- | --- | --- |
 * | fresh | 2,307 | 92.72 % | 145 of 160 | 2.9 % |
 * | business | 2,526 | 96.60 % | 154 of 160 | 4.0 % |
 * | layout | 2,480 | 90.93 % | 147 of 167 | 0.3 % |
 *
 * Before the rules for any of them, business had 95.25 % and 4.8 %, layout 88.59 % and 1.1 %. One label in
 * business named an identifier a secret, and was corrected after it was measured.
 *
 * The two sets of well-known services and of systems were written later, from memory of their default
 * texts and with knowledge of the detector, after rules for signs between a name and its value. Each was
 * measured with 15 mails a template. The first run of services gave 92.10 percent of 2,912: eight templates
 * called an identifier a secret or cut one secret into pieces. They were corrected, and the table has the
 * second run, before any rule was changed. One name in systems was changed after its run, which shared
 * letters with the phrase. Without the rules for signs, 97.86 and 84.93 percent were sealed.
 *
 * | set | secrets | sealed | templates all |
 * | --- | --- | --- | --- |
 * | services | 2,145 | 99.25 % | 62 of 65 |
 * | systems, after rules for services | 2,010 | 88.01 % | 54 of 64 |
 *
 * Of the 36 ordinary mails written with them to resemble what those rules seal, 13 had something sealed at
 * first, and 12 before the rules. Four still have and are left out: Password reset page: Ada; The password
 * is dead; Code/Item LL-9999; Gate code: B42 is not yet known.
 */
import { asText, randomOf } from './generate.ts'
import type { ProductMail } from './products.ts'
import { asSourcedHtml } from './sourced-html.ts'
import type { Filled, Template } from './templates.ts'
import { fill, leastThirdOf, ordinaryTemplatesIn, productsOf, templatesIn } from './templates.ts'

type Part = 'open' | 'held-back'

/** A file of products and one of ordinary mails, and the first of their seeds. */
type Files = { products: string; ordinary: string; seed: number }

const first: Files = {
  products: 'sourced-products.txt',
  ordinary: 'sourced-ordinary.txt',
  seed: 6_000_000,
}

/** Written after the misses in the first set's held-back third were fixed; measured once as a whole. */
const second: Files = {
  products: 'second-products.txt',
  ordinary: 'second-ordinary.txt',
  seed: 7_000_000,
}

/** Names of the products, with the source files of each. */
export const sourcedProducts = [first, second].flatMap(({ products }) => productsOf(products))

/** Returns mails of the products of one part, in turns, each with secrets of its own. */
export function sourcedMails(part: Part, count: number): ProductMail[] {
  const heldBack = leastThirdOf(first.products)
  const templates = templatesIn([first.products]).filter(
    ({ product }) => heldBack.includes(product) === (part === 'held-back'),
  )
  return inTurns(templates, count, first.seed)
}

/** Returns mails without a secret, as these products and others send them. */
export function sourcedOrdinaryMails(part: Part, count: number): ProductMail[] {
  const templates = ordinaryTemplatesIn(first.ordinary, part === 'held-back')
  return inTurns(templates, count, first.seed + 500_000)
}

/** Returns mails of the products of the second set. */
export function secondMails(count: number): ProductMail[] {
  return inTurns(templatesIn([second.products]), count, second.seed)
}

/** Returns ordinary mails of the second set, or of the third, written when the second was fixed. */
export function laterOrdinaryMails(set: 'second' | 'third', count: number): ProductMail[] {
  const file = set === 'second' ? second.ordinary : 'third-ordinary.txt'
  const templates = [true, false].flatMap((isHeldBack) => ordinaryTemplatesIn(file, isHeldBack))
  return inTurns(templates, count, second.seed + 500_000)
}

/** Sets that were written when the detector was finished; each was measured before it was looked at. */
export type FirstSightSet = 'fresh' | 'business' | 'layout' | 'services' | 'systems'

const firstSightSeeds = {
  fresh: 8_000_000,
  business: 9_000_000,
  layout: 10_000_000,
  services: 11_000_000,
  systems: 12_000_000,
}

/** Returns the names of the products of a set, with the source of each. */
export function firstSightProducts(set: FirstSightSet) {
  return productsOf(`first-sight/${set}-products.txt`)
}

/** Returns mails of the products of a set. */
export function firstSightMails(set: FirstSightSet, count: number): ProductMail[] {
  return inTurns(templatesIn([`first-sight/${set}-products.txt`]), count, firstSightSeeds[set])
}

/** Returns ordinary mails of a set. */
export function firstSightOrdinaryMails(set: FirstSightSet, count: number): ProductMail[] {
  const file = `first-sight/${set}-ordinary.txt`
  const templates = [true, false].flatMap((isHeldBack) => ordinaryTemplatesIn(file, isHeldBack))
  return inTurns(templates, count, firstSightSeeds[set] + 500_000)
}

function inTurns(templates: readonly Template[], count: number, seed: number): ProductMail[] {
  return Array.from({ length: count }, (_, at) => {
    const template = templates[at % templates.length]
    if (!template) throw new Error('there are no templates')
    const random = randomOf(seed + at)
    return mailOf(fill(template, random), random)
  })
}

function mailOf({ template, subject, lines, secrets }: Filled, random: () => number): ProductMail {
  return {
    template: template.name,
    subject,
    text: asText(lines, template.language, random),
    html: asSourcedHtml(lines, [...secrets.values()], random),
    secrets: [...secrets.values()],
  }
}
