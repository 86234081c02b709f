/**
 * Mails of services and people in twelve languages, made from templates and a seed. The templates form two
 * halves. The detector was written with one half at hand; the other was written before it and only serves
 * to measure.
 */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { valueOf } from './values.ts'

export const languages = 'en de fr es it pt nl pl ru zh ja tr'.split(' ')
export type Half = 'tuning' | 'held-out'

export type CorpusMail = {
  /** Language and line of the template. */
  template: string
  subject: string
  text: string
  html: string
  codes: string[]
  links: string[]
  /** Numbers of four characters or more that are not secret. */
  others: string[]
  harmlessLinks: string[]
}

/** Returns numbers from 0 to 1 that are the same for the same seed (mulberry32). */
export function randomOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

export function corpus(half: Half, count: number): CorpusMail[] {
  const templates = languages.flatMap((language) => {
    const file = new URL(`${half}/${language}.txt`, import.meta.url)
    const lines = readFileSync(fileURLToPath(file), 'utf8').trim().split('\n')
    return lines.map((line, at) => ({ language, name: `${language}:${at + 1}`, line }))
  })
  return Array.from({ length: count }, (_, at) => {
    const template = templates[at % templates.length]
    if (!template) throw new Error('there are no templates')
    return mailOf(template, randomOf(at + (half === 'tuning' ? 1 : 500_000)))
  })
}

function mailOf(
  { language, name, line }: { language: string; name: string; line: string },
  random: () => number,
): CorpusMail {
  const [, subject = '', ...lines] = line.split(' | ')
  const kept: Record<'codes' | 'links' | 'others' | 'harmlessLinks', string[]> = {
    codes: [],
    links: [],
    others: [],
    harmlessLinks: [],
  }
  const known = new Map<string, string>()
  const fill = (text: string) =>
    text.replaceAll(/\{(\w+)\}/g, (_whole, key: string) => {
      // A mail has one code, one link and one name; of other values it may have several.
      const isOne =
        /^(code|link|name|brand|mail|order|tracking|invoice|ticket|booking|promo)$/.test(key)
      const value = (isOne ? known.get(key) : undefined) ?? valueOf(key, language, random)
      known.set(key, value)
      if (key === 'code') kept.codes.push(value)
      else if (key === 'link') kept.links.push(value)
      else if (key === 'url' || key === 'unsub') kept.harmlessLinks.push(value)
      else if (!/^(name|brand|mail|min|count|percent|time)$/.test(key)) kept.others.push(value)
      return value
    })
  const filled = lines.map(fill)
  return {
    template: name,
    subject: fill(subject),
    text: asText(filled, language, random),
    html: asHtml(filled, kept, random),
    codes: [...new Set(kept.codes)],
    links: [...new Set(kept.links)],
    others: [...new Set(kept.others)],
    harmlessLinks: [...new Set(kept.harmlessLinks)],
  }
}

export function asText(lines: readonly string[], language: string, random: () => number): string {
  const gap = random() < 0.5 ? '\n\n' : '\n'
  const isWrapped = random() < 0.3 && !/zh|ja/.test(language)
  return lines.map((line) => (isWrapped ? wrap(line) : line)).join(gap)
}

/** Breaks lines at a space after 45 to 60 characters, as old mail programs do. */
function wrap(line: string): string {
  return /https?:/.test(line) ? line : line.replaceAll(/(.{45,60}) /g, '$1\n')
}

export function asHtml(
  lines: readonly string[],
  { codes, links, harmlessLinks }: { codes: string[]; links: string[]; harmlessLinks: string[] },
  random: () => number,
): string {
  const style = random()
  const blocks = lines.map((line) => {
    if (codes.includes(line)) return codeBlock(line, style)
    const safe = line.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
    return [...new Set([...links, ...harmlessLinks])].reduce((html, link) => {
      const href = link.replaceAll('&', '&amp;')
      return html.replaceAll(
        href,
        `<a style="color:#fff;background:#06c" href="${href}">&rarr; OK</a>`,
      )
    }, `<p style="font-size:14px">${safe}</p>`)
  })
  return `<html><head><style>.x{color:red}</style></head><body>${blocks.join('\n')}</body></html>`
}

function codeBlock(code: string, style: number): string {
  if (style < 0.3) return `<div style="font-size:32px;letter-spacing:8px"><b>${code}</b></div>`
  if (style < 0.5) return `<h1>${code}</h1>`
  if (style < 0.65) {
    const cells = Array.from(code, (sign) => `<td>${sign}</td>`).join('')
    return `<table align="center"><tr>${cells}</tr></table>`
  }
  return `<table><tr><td style="padding:8px"><strong>${code}</strong></td></tr></table>`
}
