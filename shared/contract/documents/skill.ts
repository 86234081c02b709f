/**
 * The contract document for agents (agentskills.io): a hand-written text with tables made from the
 * contracts. It is the single authority; the other documents point to it.
 */

import type { GapState } from '../gap-states.ts'
import { type Capability, gaps as gapTable } from '../gaps.ts'
import type { Operation } from '../operation.ts'
import {
  type Service,
  serviceName,
  serviceVersion,
  skillDescription,
  wellKnownOf,
} from './about.ts'

/**
 * Returns the content of /skill.md. `prose` is the text with {{name}} for inserted values; unknown
 * placeholders stay unchanged, because the examples use them too.
 */
export function skillDocument(prose: string, service: Service): string {
  const { contracts, baseUrl, webUrl, gaps, digest } = service
  const values: Record<string, string> = {
    front_matter: frontMatter(digest),
    base_url: baseUrl,
    web_url: webUrl,
    protected_resource: wellKnownOf(baseUrl).protectedResource,
    gaps: gaps.map(describeGap).join('\n'),
    operations: contracts.map(row).join('\n'),
  }
  return prose.replace(/\{\{([a-z_]+)\}\}/g, (placeholder, name: string) =>
    Object.hasOwn(values, name) ? (values[name] ?? '') : placeholder,
  )
}

function describeGap({ gap_id, status, reasons, chains = [] }: GapState): string {
  const { title, limits }: Capability = gapTable[gap_id]
  const worse = chains.filter((one) => one.status !== status)
  const places = worse.map((one) => `${one.chain} \`${one.status}\``)
  const why = [limits, reasons.join(', '), places.join(', ')].filter(Boolean)
  return `- \`${gap_id}\`: \`${status}\`, ${[title, ...why].join('; ')}`
}

/** Builds the front matter. Metadata values are strings; JSON strings are YAML (YAML 1.2, section 1.3). */
function frontMatter(digest: string): string {
  return [
    '---',
    `name: ${serviceName}`,
    `description: ${JSON.stringify(skillDescription)}`,
    'license: Apache-2.0',
    'metadata:',
    `  version: "${serviceVersion}"`,
    `  contract-digest: "${digest}"`,
    '---',
  ].join('\n')
}

function row({ id, method, folder, access, mutates, gap, errors }: Operation): string {
  const cells = [
    `\`${id}\`${mutates ? '*' : ''}`,
    folder === id.replaceAll('_', '-') ? method : `${method} /${folder}`,
    access,
    gap ?? '',
    errors.join(' '),
  ]
  return `| ${cells.join(' | ')} |`
}
