import type { Config } from '../../shared/env.ts'
import { mcpPathOf } from '../../shared/http/answer.ts'
import { openidMetadata, resourceMetadata, serverMetadata } from '../../shared/oauth/metadata.ts'

const protectedApi = (config: Config) => resourceMetadata(config, '')
const protectedMcp = (config: Config, path: string) => resourceMetadata(config, mcpPathOf(path))

/**
 * Metadata by path, with or without a slash at its end, at every path where a client may look. RFC 8414 section
 * 3.1 and RFC 9728 section 3.1 put the path of an issuer or resource behind the well-known part. Where the root
 * of the host is not ours, clients are sent to the paths below /oauth.
 */
export const documents: Readonly<Record<string, (config: Config, path: string) => object>> = {
  '/.well-known/oauth-authorization-server/oauth': serverMetadata,
  '/oauth/.well-known/oauth-authorization-server': serverMetadata,
  '/.well-known/openid-configuration/oauth': openidMetadata,
  '/oauth/.well-known/openid-configuration': openidMetadata,
  '/.well-known/oauth-protected-resource': protectedApi,
  '/oauth/.well-known/oauth-protected-resource': protectedApi,
  '/.well-known/oauth-protected-resource/mcp': protectedMcp,
  '/oauth/.well-known/oauth-protected-resource/mcp': protectedMcp,
}
