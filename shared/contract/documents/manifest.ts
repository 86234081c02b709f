/**
 * The tool manifest: every operation as a tool, for hosts that read a list of tools and call HTTP
 * themselves. Its schemas are those that requests and answers are checked against.
 */
import type { Operation } from '../operation.ts'
import {
  codesOf,
  gapStatusOf,
  groupOf,
  type Service,
  serviceName,
  serviceSummary,
  serviceVersion,
  wellKnownOf,
} from './about.ts'
import { requestSchema, responseSchema } from './openapi.ts'

/** Returns the content of /tools.json. */
export function toolManifest(service: Service) {
  const { contracts, baseUrl, webUrl, gaps, digest } = service
  return {
    name: serviceName,
    description: serviceSummary,
    version: serviceVersion,
    contract: `${baseUrl}/skill.md`,
    contract_digest: digest,
    base_url: baseUrl,
    openapi_url: `${baseUrl}/openapi.json`,
    mcp_url: `${baseUrl}/mcp`,
    authentication: {
      header: 'Authorization: Bearer <API_KEY>',
      api_keys_url: `${webUrl}/keys`,
      oauth_protected_resource: wellKnownOf(baseUrl).protectedResource,
    },
    gaps,
    tools: contracts.map((contract) => describeTool(contract, service)),
  }
}

function describeTool(contract: Operation, { baseUrl, gaps }: Service) {
  const { id, summary, method, folder, access, mutates = false, gap } = contract
  return {
    name: id,
    description: summary,
    group: groupOf(contract).name,
    method,
    url: `${baseUrl}/${folder}`,
    scope: access,
    takes_idempotency_key: mutates,
    ...(gap === undefined ? {} : { gap_id: gap, status: gapStatusOf(contract, gaps) }),
    errors: codesOf(contract),
    input_schema: requestSchema(contract),
    output_schema: responseSchema(contract),
  }
}
