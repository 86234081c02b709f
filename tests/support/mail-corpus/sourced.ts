/**
 * Mails of products whose templates were read in their public repositories, which the first line of each
 * names by repository and path: what is sent, and named how, with secrets of the product's own form. The
 * sentences are ours. Of the first set the third of the products whose names have the least digests is held
 * back. All of it, the ordinary mails too, was written down before the detector was read or run. The first
 * look, each time before anything was repaired:
 *
 * | part | secrets | sealed | templates all | ordinary mails with anything sealed |
 * | --- | --- | --- | --- | --- |
 * | first set, open | 6,467 | 86.15 % | 191 of 231 | 2.7 % of 3,000 |
 * | first set, held back, after rules for the open part | 8,498 | 99.06 % | 102 of 104 | 1.9 % of 4,000 |
 * | second set, after rules for both | 8,324 | 98.47 % | 73 of 75 | 11.3 % of 4,000 |
 * | third set of ordinary mails, after rules for the second | | | | 3.9 % of 4,000 |
 *
 * Of the second set half the ordinary mails confirm a booking, and of the third a transfer, as no mail before
 * did: numbers behind short labels that name no secret were sealed there. All of it is looked at now.
 */
import { asText, randomOf } from './generate.ts'
import type { ProductMail } from './products.ts'
import { asSourcedHtml } from './sourced-html.ts'
import type { Filled, Template } from './templates.ts'
import { fill, leastThirdOf, ordinaryTemplatesIn, productsOf, templatesIn } from './templates.ts'

type Part = 'open' | 'held-back'

/** A file of products and one of ordinary mails, and where their seeds begin. */
type Files = { products: string; ordinary: string; seed: number }

const first: Files = {
  products: 'sourced-products.txt',
  ordinary: 'sourced-ordinary.txt',
  seed: 6_000_000,
}

/** Written after what the held-back third of the first showed was repaired, and measured once as a whole. */
const second: Files = {
  products: 'second-products.txt',
  ordinary: 'second-ordinary.txt',
  seed: 7_000_000,
}

/** Names of the products and the files that what is known of each is from. */
export const sourcedProducts = [first, second].flatMap(({ products }) => productsOf(products))

/** So many mails of the products of one part, in turns, each with secrets of its own. */
export function sourcedMails(part: Part, count: number): ProductMail[] {
  const heldBack = leastThirdOf(first.products)
  const templates = templatesIn([first.products]).filter(
    ({ product }) => heldBack.includes(product) === (part === 'held-back'),
  )
  return inTurns(templates, count, first.seed)
}

/** Mails without a secret, as these products and others send them. */
export function sourcedOrdinaryMails(part: Part, count: number): ProductMail[] {
  const templates = ordinaryTemplatesIn(first.ordinary, part === 'held-back')
  return inTurns(templates, count, first.seed + 500_000)
}

/** Mails of the products of the second set. */
export function secondMails(count: number): ProductMail[] {
  return inTurns(templatesIn([second.products]), count, second.seed)
}

/** Ordinary mails of the second set, or of the third, which was written when that one was repaired. */
export function laterOrdinaryMails(set: 'second' | 'third', count: number): ProductMail[] {
  const file = set === 'second' ? second.ordinary : 'third-ordinary.txt'
  const templates = [true, false].flatMap((isHeldBack) => ordinaryTemplatesIn(file, isHeldBack))
  return inTurns(templates, count, second.seed + 500_000)
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
