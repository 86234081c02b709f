/**
 * The contract document for agents (agentskills.io): a text that people wrote, with the tables that
 * follow from the contracts. It is the one authority; the other documents point to it.
 */

import {
  type Service,
  serviceName,
  serviceVersion,
  skillDescription,
  wellKnownOf,
} from './about.ts'
import type { GapState } from './gap-states.ts'
import { type Capability, gaps as gapTable } from './gaps.ts'
import type { Operation } from './operation.ts'

/**
 * The whole of /skill.md. `prose` is the text with {{name}} for what is put in; placeholders that it
 * does not know stand as they are, for the examples use them too.
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

/** Values of metadata are strings; JSON strings are YAML (YAML 1.2, section 1.3). */
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
    `${method} /${folder}`,
    access,
    gap ?? '',
    errors.join(' '),
  ]
  return `| ${cells.join(' | ')} |`
}
