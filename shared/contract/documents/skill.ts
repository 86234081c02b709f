/**
 * The contract document for agents (agentskills.io): a hand-written text with tables made from the
 * contracts. It is the single authority; the other documents point to it.
 */
import type { GapId, GapState } from '../gaps.ts'
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

/** Capabilities as the document calls them, and why one is `partial_live` at best. */
const capabilities: Record<GapId, { title: string; limits?: string }> = {
  GAP_X402_V1: {
    title: 'x402 payments',
    limits: 'Not every merchant, scheme and chain; delivery is the merchant’s.',
  },
  GAP_PAYMENT_MANDATE_V1: {
    title: 'payment mandates',
    limits: 'Caps of this service, not interoperable with the mandates of card networks.',
  },
  GAP_TRANSFER_V1: { title: 'stablecoin transfers' },
  GAP_BALANCES_V1: { title: 'balances and deposits' },
  GAP_DEFI_AUTOMATION_V1: { title: 'yield', limits: 'Vaults that the operator lists.' },
  GAP_VAULT_V1: { title: 'the vault' },
  GAP_MAIL_V1: { title: 'mail' },
  GAP_SIGN_UP_V1: { title: 'sign-up' },
  GAP_HOSTED_ACTION_V1: { title: 'hosted pages' },
}

function describeGap({ gap_id, status, reasons, chains = [] }: GapState): string {
  const { title, limits } = capabilities[gap_id]
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
