/**
 * Mails in which well-known products send codes, passwords, keys and links: the place of each secret and
 * its label. The sentences are ours. The first line of a product names the source of its documentation. For
 * 83 products of the second and third file, that line says that they were written from memory and not
 * looked up. The third of the products whose names have the least digests is held back: the detector was
 * first written without it, and general rules fixed what it then missed. Products whose templates are in
 * public repositories were written down before anything was measured with them: 98.86 percent of their
 * 13,500 secrets were sealed then, and all secrets in 102 of 117 templates. That set is no longer unseen:
 * general rules fixed its misses, and two words of one template were changed that share letters with words
 * of the phrase in it.
 */
import { asHtml, asText, randomOf } from './generate.ts'
import type { Filled, Template } from './templates.ts'
import {
  fill,
  leastThirdOf,
  namesIn,
  ordinaryTemplatesIn,
  productsOf,
  templatesIn,
} from './templates.ts'

export type ProductMail = {
  /** Product and line. */
  template: string
  subject: string
  text: string
  html: string
  secrets: string[]
}

type Part = 'tuning' | 'held-back' | 'repositories'

/** Files of which a third each is held back, so that a new file moves no product of another. */
const thirds = ['products.txt', 'more-products.txt']
/** Written later than the detector, and held back as a whole. */
const later = 'later-products.txt'
/** Written from public repositories, later than both. */
const repositories = 'unseen-products.txt'
const files = [...thirds, later, repositories]

/** Names of all products, with the source of each. */
export const products = files.flatMap(productsOf)

const heldBack = new Set([...thirds.flatMap(leastThirdOf), ...namesIn(later)])

const ofRepositories = new Set(namesIn(repositories))

const partOf = (product: string): Part => {
  if (ofRepositories.has(product)) return 'repositories'
  return heldBack.has(product) ? 'held-back' : 'tuning'
}

const seeds = { tuning: 1_000_000, 'held-back': 2_000_000, repositories: 5_000_000 }

/** Returns mails of the products of one part, in turns, each with secrets of its own. */
export function productMails(part: Part, count: number): ProductMail[] {
  const templates = templatesIn(files).filter(({ product }) => partOf(product) === part)
  return inTurns(templates, count, seeds[part])
}

/** Returns mails without a secret: invoices, orders, parcels, newsletters, invitations, notices. */
export function ordinaryMails(third: 'tuning' | 'held-back', count: number): ProductMail[] {
  const templates = ordinaryTemplatesIn('ordinary.txt', third === 'held-back')
  return inTurns(templates, count, third === 'tuning' ? 3_000_000 : 4_000_000)
}

function inTurns(templates: readonly Template[], count: number, seed: number): ProductMail[] {
  return Array.from({ length: count }, (_, at) => {
    const template = templates[at % templates.length]
    if (!template) throw new Error('there are no templates')
    const random = randomOf(seed + at)
    return mailOf(fill(template, random), random)
  })
}

const isLink = (key: string) => key.endsWith('link')

function mailOf({ template, subject, lines, secrets }: Filled, random: () => number): ProductMail {
  const links = [...secrets].flatMap(([key, value]) => (isLink(key) ? [value] : []))
  const codes = [...secrets].flatMap(([key, value]) => (isLink(key) ? [] : [value]))
  return {
    template: template.name,
    subject,
    text: asText(lines, template.language, random),
    html: asHtml(lines, { codes, links, harmlessLinks: [] }, random),
    secrets: [...secrets.values()],
  }
}
