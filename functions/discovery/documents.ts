import type { Service } from '../../shared/contract/documents/about.ts'
import { agentCard, agentSkills } from '../../shared/contract/documents/agent-card.ts'
import { llmsText } from '../../shared/contract/documents/llms.ts'
import { toolManifest } from '../../shared/contract/documents/manifest.ts'
import { openApiDocument } from '../../shared/contract/documents/openapi.ts'
import { skillDocument } from '../../shared/contract/documents/skill.ts'
import { sha256Hex } from '../../shared/digest.ts'
import { prose } from './prose.ts'

/** One document: its path, and the function that makes it from the contracts. */
export type Document = {
  path: string
  /** Other paths that serve the same bytes. */
  aliases: readonly string[]
  type: string
  textOf(service: Service): string | Promise<string>
}

const json = 'application/json; charset=utf-8'

/** Every document about the service. */
export const documents: readonly Document[] = [
  {
    path: '/skill.md',
    aliases: ['/skills.md', '/.well-known/skill.md'],
    type: 'text/markdown; charset=utf-8',
    textOf: (service) => skillDocument(prose, service),
  },
  {
    path: '/openapi.json',
    aliases: [],
    type: json,
    textOf: (service) => JSON.stringify(openApiDocument(service)),
  },
  {
    path: '/tools.json',
    aliases: ['/.well-known/tools.json'],
    type: json,
    textOf: (service) => JSON.stringify(toolManifest(service)),
  },
  {
    path: '/.well-known/agent-card.json',
    // Clients of A2A 0.3 look here. They want an address for A2A messages, and the service has none.
    aliases: ['/.well-known/agent.json'],
    type: json,
    textOf: (service) => JSON.stringify(agentCard(service)),
  },
  {
    path: '/.well-known/agent-skills/index.json',
    aliases: [],
    type: json,
    textOf: async (service) =>
      JSON.stringify(agentSkills(service, await sha256Hex(skillDocument(prose, service)))),
  },
  {
    path: '/llms.txt',
    aliases: [],
    type: 'text/plain; charset=utf-8',
    textOf: llmsText,
  },
]
