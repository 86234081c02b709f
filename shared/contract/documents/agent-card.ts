/**
 * The agent card (A2A 1.0, section 4.4.1). The service does not speak A2A: its only interface is the MCP
 * endpoint, declared as a custom binding, so that a client finds it and does not take it for A2A.
 */
import type { Operation } from '../operation.ts'
import {
  authorizationOf,
  codesOf,
  type Group,
  gapStatusOf,
  groupOf,
  groups,
  type Service,
  serviceName,
  serviceSummary,
  serviceTitle,
  serviceVersion,
  skillDescription,
  wellKnownOf,
} from './about.ts'

/** URI of the binding: custom bindings are named by one (A2A 1.0, section 5.8). */
const mcpBinding = 'https://modelcontextprotocol.io/specification/2026-07-28/basic/transports'

/** Returns the content of /.well-known/agent-card.json. */
export function agentCard(service: Service) {
  const { baseUrl, webUrl } = service
  return {
    name: serviceName,
    description:
      `${serviceSummary} It is a set of tools, reached by MCP or plain HTTP; it takes no A2A messages. ` +
      `Read ${baseUrl}/skill.md first.`,
    version: serviceVersion,
    documentationUrl: `${baseUrl}/skill.md`,
    provider: { organization: serviceTitle, url: webUrl },
    supportedInterfaces: [
      { url: `${baseUrl}/mcp`, protocolBinding: mcpBinding, protocolVersion: '1.0' },
    ],
    capabilities: {
      streaming: false,
      pushNotifications: false,
      extensions: [operationsExtension(service)],
    },
    securitySchemes: securitySchemes(service),
    securityRequirements: [
      { schemes: { bearer: { list: [] } } },
      { schemes: { oauth2: { list: ['read'] } } },
    ],
    defaultInputModes: ['application/json'],
    defaultOutputModes: ['application/json'],
    skills: groups.flatMap((group) => describeGroup(group, service)),
  }
}

/** Returns data that has no field in the card, as an extension (section 4.4.4). */
function operationsExtension({ contracts, baseUrl, gaps, digest }: Service) {
  return {
    uri: `${baseUrl}/skill.md#operations`,
    description: 'The operations behind the skills, with the digest of their contract.',
    required: false,
    params: {
      contract_digest: digest,
      gaps,
      operations: contracts.map((contract) => describeOperation(contract, gaps)),
    },
  }
}

function describeOperation(contract: Operation, gaps: Service['gaps']) {
  const { id, method, folder, access, gap } = contract
  return {
    id,
    method,
    path: `/${folder}`,
    scope: access,
    ...(gap === undefined ? {} : { gap_id: gap, status: gapStatusOf(contract, gaps) }),
    errors: codesOf(contract),
  }
}

function securitySchemes(service: Service) {
  return {
    bearer: {
      httpAuthSecurityScheme: { scheme: 'Bearer', description: 'An API key of the account.' },
    },
    oauth2: {
      oauth2SecurityScheme: {
        description: 'An opaque access token.',
        flows: { authorizationCode: { ...authorizationOf(service), pkceRequired: true } },
        oauth2MetadataUrl: wellKnownOf(service.baseUrl).authorizationServer,
      },
    },
  }
}

function describeGroup(group: Group, { contracts, gaps }: Service) {
  const inside = contracts.filter((contract) => groupOf(contract) === group)
  if (inside.length === 0) return []
  const ids = inside.map(({ id }) => id)
  const named = new Set(inside.flatMap(({ gap }) => (gap === undefined ? [] : [gap])))
  const states = gaps.filter(({ gap_id }) => [...named].some((gap) => gap === gap_id))
  const maturity = states.map(({ gap_id, status }) => ` ${gap_id} is ${status}.`).join('')
  return [
    {
      id: group.name,
      name: group.title,
      description: `${group.summary} Tools: ${ids.join(', ')}.${maturity}`,
      tags: [...ids, ...named],
    },
  ]
}

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
