/** Templates of mails from files: a product and its source on a line with #, then one mail a line. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { secretOf } from './secrets.ts'
import { valueOf } from './values.ts'

export type Template = { product: string; name: string; language: string; parts: string[] }

/** A template with its placeholders filled in, and the secrets by the names of their placeholders. */
export type Filled = {
  template: Template
  subject: string
  lines: string[]
  secrets: Map<string, string>
}

const linesOf = (file: string) =>
  readFileSync(fileURLToPath(new URL(file, import.meta.url)), 'utf8')
    .trim()
    .split('\n')

export const digestOf = (text: string) => createHash('sha256').update(text).digest('hex')

export const productsOf = (file: string) =>
  linesOf(file)
    .filter((line) => line.startsWith('# '))
    .map((line) => {
      const [name = '', source = ''] = line.slice(2).split(' | ')
      return { name, source }
    })

export const namesIn = (file: string) => productsOf(file).map(({ name }) => name)

/** Returns the third of the products of a file whose names have the least digests. */
export function leastThirdOf(file: string): string[] {
  const byDigest = namesIn(file).toSorted((a, b) => (digestOf(a) < digestOf(b) ? -1 : 1))
  return byDigest.slice(0, Math.ceil(byDigest.length / 3))
}

export function templatesIn(files: readonly string[]): Template[] {
  let product = ''
  return files.flatMap(linesOf).flatMap((line, at) => {
    if (!line.startsWith('# ')) return [templateOf(product, line, at)]
    product = line.slice(2).split(' | ')[0] ?? ''
    return []
  })
}

/** Returns the templates without a product, either the held-back third or the others. */
export function ordinaryTemplatesIn(file: string, isHeldBack: boolean): Template[] {
  return linesOf(file)
    .map((line, at) => templateOf('ordinary', line, at))
    .filter(({ parts }) => /^[0-4]/.test(digestOf(parts.join())) === isHeldBack)
}

function templateOf(product: string, line: string, at: number): Template {
  const [language = '', ...parts] = line.split(' | ')
  return { product, language, parts, name: `${product}, line ${at + 1}` }
}

const isOnce = /^(brand|name|mail|user|order|invoice|tracking|account)$/

/**
 * Fills in a template. A mail has one secret for each name and one customer; of other numbers it may have
 * several.
 */
export function fill(template: Template, random: () => number): Filled {
  const secrets = new Map<string, string>()
  const others = new Map<string, string>()
  const [subject = '', ...lines] = template.parts.map((part) =>
    part.replaceAll(/\{(\w+)\}/g, (_whole, key: string) => {
      const secret = secrets.get(key) ?? secretOf(key, random)
      if (secret !== undefined) {
        secrets.set(key, secret)
        return secret
      }
      const value =
        (isOnce.test(key) ? others.get(key) : undefined) ?? valueOf(key, template.language, random)
      others.set(key, value)
      return value
    }),
  )
  return { template, subject, lines, secrets }
}
