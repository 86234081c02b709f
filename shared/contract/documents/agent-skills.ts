/**
 * The index of agent skills (Agent Skills Discovery 0.2.0): the address of the one skill, and the digest by
 * which a client checks its bytes.
 */
import { type Service, serviceName, skillDescription } from './about.ts'

/** Returns /.well-known/agent-skills/index.json; `sha256` is of the bytes of /skill.md, in hex. */
export function agentSkills({ baseUrl }: Service, sha256: string) {
  return {
    $schema: 'https://schemas.agentskills.io/discovery/0.2.0/schema.json',
    skills: [
      {
        name: serviceName,
        type: 'skill-md',
        description: skillDescription,
        url: `${baseUrl}/skill.md`,
        digest: `sha256:${sha256}`,
      },
    ],
  }
}
