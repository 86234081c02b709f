/**
 * The list for language models (llmstxt.org): a title, a summary of the service, and links. Of the contract
 * document it repeats only the names of the operations.
 */
import {
  codesOf,
  gapStatusOf,
  groupOf,
  groups,
  type Service,
  serviceSummary,
  serviceTitle,
} from './about.ts'

/** Returns the content of /llms.txt. */
export function llmsText(service: Service): string {
  const { baseUrl, webUrl, gaps, digest } = service
  const states = gaps.map(({ gap_id, status }) => `\`${gap_id}\` is \`${status}\``).join(', ')
  const sections = [
    `# ${serviceTitle}`,
    `> ${serviceSummary}`,
    `Read the contract first: it has the rules for agents. ${states}. Contract digest: \`${digest}\`.`,
    '## Contract',
    [
      link('Contract for agents', `${baseUrl}/skill.md`, 'rules, call orders, all operations'),
      link('OpenAPI 3.1', `${baseUrl}/openapi.json`, 'every request, answer and refusal'),
      link('Tool manifest', `${baseUrl}/tools.json`, 'the same as JSON Schema, tool by tool'),
      link('MCP endpoint', `${baseUrl}/mcp`, 'Streamable HTTP, one tool for each operation'),
      link('Agent card', `${baseUrl}/.well-known/agent-card.json`, 'for discovery by agents'),
      link('Skill index', `${baseUrl}/.well-known/agent-skills/index.json`, 'with its digest'),
    ].join('\n'),
    ...groups.flatMap((group) => section(group.name, service)),
    '## Optional',
    link('Web app', webUrl, 'where the owner approves, sets limits and makes keys'),
  ]
  return `${sections.join('\n\n')}\n`
}

function section(name: string, { contracts, baseUrl, gaps }: Service): string[] {
  const inside = contracts.filter((contract) => groupOf(contract).name === name)
  if (inside.length === 0) return []
  const lines = inside.map((contract) => {
    const { id, method, folder, access, gap, summary } = contract
    const state = gap === undefined ? '' : ` \`${gap}\`: ${gapStatusOf(contract, gaps)}.`
    const refusals = codesOf(contract).join(', ')
    const note = `${method}, scope ${access}. ${summary}${state} Refusals: ${refusals}.`
    return link(id, `${baseUrl}/${folder}`, note)
  })
  const title = groups.find((group) => group.name === name)?.title ?? name
  return [`## ${title}`, lines.join('\n')]
}

function link(name: string, url: string, note: string): string {
  return `- [${name}](${url}): ${note}`
}
