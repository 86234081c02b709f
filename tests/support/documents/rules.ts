/**
 * Checks documents against the rules of their formats. The checks follow the published texts and share no
 * code with the generators: llmstxt.org, agentskills.io and its discovery, version 0.2.0.
 */
import { createHash } from 'node:crypto'
import * as z from 'zod'

type Rule = readonly [isBroken: boolean, problem: string]

function problemsOf(rules: readonly Rule[]): string[] {
  return rules.flatMap(([isBroken, problem]) => (isBroken ? [problem] : []))
}

/** Checks llmstxt.org: a title, a quoted summary, text without headings, sections with lists of links. */
export function problemsOfLlms(text: string): string[] {
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  const first = lines.findIndex((line) => line.startsWith('## '))
  const head = first < 0 ? lines : lines.slice(0, first)
  const sections = first < 0 ? [] : lines.slice(first)
  const titles = sections.filter((line) => line.startsWith('#'))
  const links = sections.filter((line) => !line.startsWith('#'))
  const optional = titles.indexOf('## Optional')
  return problemsOf([
    [!/^# \S/.test(head[0] ?? ''), 'it does not begin with a title'],
    [head.slice(1).some((line) => line.startsWith('#')), 'a heading stands before the sections'],
    [!/^> \S/.test(head[1] ?? ''), 'no quoted summary follows the title'],
    [titles.some((line) => !/^## \S/.test(line)), 'a section is not of the second level'],
    [new Set(titles).size !== titles.length, 'two sections have one title'],
    [optional >= 0 && optional !== titles.length - 1, 'a section follows the optional one'],
    [links.some((line) => !isLink(line)), 'a section holds something else than links'],
    [/[#\n]$/.test(text.replace(/\n$/, '')), 'it ends in an empty section or lines'],
  ])
}

function isLink(line: string): boolean {
  const [, address = ''] = /^- \[[^\]\n]+\]\(([^)\s]+)\)(: \S.*)?$/.exec(line) ?? []
  return URL.canParse(address)
}

/** Fields of the front matter, limited to plain `key: value` with one nested level. */
export type FrontMatter = Map<string, string>

/** Returns the front matter of a document, or undefined if there is none. */
function readFrontMatter(text: string): FrontMatter | undefined {
  const [, block] = /^---\n([\s\S]*?)\n---\n/.exec(text) ?? []
  if (block === undefined) return undefined
  const fields: FrontMatter = new Map()
  let parent = ''
  for (const line of block.split('\n')) {
    const [, indent = '', key = '', value = ''] = /^( {2})?([a-z-]+):(?: (.+))?$/.exec(line) ?? []
    if (key === '') return undefined
    if (indent === '') parent = key
    const isText = value.startsWith('"')
    fields.set(
      indent === '' ? key : `${parent}.${key}`,
      isText ? z.string().parse(JSON.parse(value)) : value,
    )
  }
  return fields
}

const allowed = ['name', 'description', 'license', 'compatibility', 'allowed-tools', 'metadata']

/** Checks agentskills.io: SKILL.md, with the bounds that it recommends for the body. */
export function problemsOfSkill(text: string): string[] {
  const fields = readFrontMatter(text)
  if (!fields) return ['it has no front matter']
  const name = fields.get('name') ?? ''
  const description = fields.get('description') ?? ''
  const keys = [...fields.keys()].filter((key) => !key.startsWith('metadata.'))
  return problemsOf([
    [!/^[a-z0-9]+(-[a-z0-9]+)*$/.test(name) || name.length > 64, 'the name has a wrong form'],
    [description === '' || description.length > 1024, 'the description is empty or too long'],
    [(fields.get('compatibility') ?? '').length > 500, 'the compatibility is too long'],
    [keys.some((key) => !allowed.includes(key)), 'a field is not one of the form'],
    [text.split('\n').length > 500, 'it has over 500 lines'],
    [tokensAtMost(text) > 5000, 'it may have over 5,000 tokens'],
  ])
}

/**
 * Returns an upper bound on tokens. Tokenizers in use take 3.9 characters of this English with its JSON for
 * one token.
 */
function tokensAtMost(text: string): number {
  return Math.ceil(text.length / 3.5)
}

const index = z.strictObject({
  $schema: z.literal('https://schemas.agentskills.io/discovery/0.2.0/schema.json'),
  skills: z
    .array(
      z.strictObject({
        name: z
          .string()
          .regex(/^[a-z0-9]+(-[a-z0-9]+)*$/)
          .max(64),
        type: z.enum(['skill-md', 'archive']),
        description: z.string().min(1).max(1024),
        url: z.string().min(1),
        digest: z.string().regex(/^sha256:[0-9a-f]{64}$/),
      }),
    )
    .min(1),
})

/** Checks the index against the bytes of the one skill that it names. */
export function problemsOfIndex(text: string, skill: string): string[] {
  const parsed = index.safeParse(JSON.parse(text))
  if (!parsed.success)
    return parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`)
  const [entry] = parsed.data.skills
  const fields = readFrontMatter(skill)
  return problemsOf([
    [entry?.name !== fields?.get('name'), 'the names differ'],
    [entry?.description !== fields?.get('description'), 'the descriptions differ'],
    [
      entry?.digest !== `sha256:${createHash('sha256').update(skill).digest('hex')}`,
      'the digest is of other bytes',
    ],
  ])
}
