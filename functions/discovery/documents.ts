import { agentCard } from '../../shared/contract/agent-card.ts'
import { agentSkills } from '../../shared/contract/agent-skills.ts'
import { llmsText } from '../../shared/contract/llms.ts'
import { toolManifest } from '../../shared/contract/manifest.ts'
import { openApiDocument } from '../../shared/contract/openapi.ts'
import type { Service } from '../../shared/contract/service.ts'
import { skillDocument } from '../../shared/contract/skill.ts'
import { sha256Hex } from '../../shared/digest.ts'
import { prose } from './prose.ts'

/** One document as it is served. */
export type Document = {
  /** The address of it; others are aliases with the same bytes. */
  path: string
  aliases: readonly string[]
  type: string
  text: string
  /** Strong entity tag (RFC 9110 section 8.8.3). */
  etag: string
}

const json = 'application/json; charset=utf-8'
const markdown = 'text/markdown; charset=utf-8'

/** Every document about the service. */
export async function documentsOf(service: Service): Promise<Document[]> {
  const skill = skillDocument(prose, service)
  const skills = agentSkills(service, await sha256Hex(skill))
  return Promise.all([
    document('/skill.md', markdown, skill, ['/skills.md', '/.well-known/skill.md']),
    document('/openapi.json', json, JSON.stringify(openApiDocument(service))),
    document('/tools.json', json, JSON.stringify(toolManifest(service)), [
      '/.well-known/tools.json',
    ]),
    document('/.well-known/agent-card.json', json, JSON.stringify(agentCard(service)), [
      '/.well-known/agent.json',
    ]),
    document('/.well-known/agent-skills/index.json', json, JSON.stringify(skills)),
    document('/llms.txt', 'text/plain; charset=utf-8', llmsText(service)),
  ])
}

async function document(
  path: string,
  type: string,
  text: string,
  aliases: readonly string[] = [],
): Promise<Document> {
  return { path, aliases, type, text, etag: `"${await sha256Hex(text)}"` }
}
