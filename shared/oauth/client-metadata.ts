/**
 * Metadata of a client (RFC 7591 section 2), from a registration or from its document. Fields that the
 * service does not use are dropped: it fetches no logo and keeps no key.
 */
import * as z from 'zod'
import { visibleLine } from '../text/untrusted.ts'
import { deviceGrant } from './issuer.ts'
import { isRedirectUri } from './redirect-uri.ts'

/** Metadata that is stored. */
export const clientMetadata = z.object({
  /** Name of the client as one visible line. */
  name: z.string(),
  uri: z.string().optional(),
  redirectUris: z.array(z.string()),
  /** True if the client uses refresh tokens. */
  refreshes: z.boolean(),
  /** True if the client declared that all its tokens are bound to its key (RFC 9449 section 5.2). */
  isBound: z.boolean(),
  /** True if the client may ask by a device code. */
  usesDeviceCodes: z.boolean().default(false),
})
/** The stored metadata, parsed. */
export type ClientMetadata = z.output<typeof clientMetadata>

/** A client and how it is identified. */
export type Client = ClientMetadata & {
  id: string
  /** True if the id is the address of its document; then the host of it is proven, and nothing else. */
  isDocument: boolean
  /** Host of the document. */
  host?: string
}

/** Failure to find a client, with a sentence for the person at the page. */
export type NoClient = { refused: string }

const nameLengthMax = 60
const redirectUrisMax = 10

/** Metadata as the client sends it; unknown fields are ignored (RFC 7591 section 2). */
export const sentMetadata = z.looseObject({
  redirect_uris: z.array(z.string()).default([]),
  client_name: z.string().max(1000).optional(),
  client_uri: z.string().max(2048).optional(),
  grant_types: z.array(z.string()).max(20).default(['authorization_code']),
  response_types: z.array(z.string()).max(20).default(['code']),
  token_endpoint_auth_method: z.string().optional(),
  dpop_bound_access_tokens: z.boolean().default(false),
})
/** Metadata as the client sent it, parsed. */
export type SentMetadata = z.output<typeof sentMetadata>

/** Returns the metadata to store; leaves out redirect addresses that the service does not accept. */
export function metadataFrom(sent: SentMetadata): ClientMetadata {
  const uri = sent.client_uri
  return {
    name:
      Array.from(visibleLine(sent.client_name ?? ''))
        .slice(0, nameLengthMax)
        .join('') || 'An app without a name',
    ...(uri !== undefined && isRedirectUri(uri) && uri.startsWith('https:') ? { uri } : {}),
    redirectUris: [...new Set(sent.redirect_uris.filter(isRedirectUri))].slice(0, redirectUrisMax),
    refreshes: sent.grant_types.includes('refresh_token'),
    isBound: sent.dpop_bound_access_tokens,
    usesDeviceCodes: sent.grant_types.includes(deviceGrant),
  }
}
