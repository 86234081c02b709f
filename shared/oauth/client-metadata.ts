/**
 * What a client tells of itself (RFC 7591 section 2), whether it registers or publishes a document.
 * Most of what it may tell is of no use here and is dropped: no logo is fetched, no key is kept.
 */
import * as z from 'zod'
import { visibleLine } from '../mail/untrusted.ts'
import { isRedirectUri } from './redirect-uri.ts'

/** What is kept of it. */
export const clientMetadata = z.object({
  /** One line that shows all that is in it. */
  name: z.string(),
  uri: z.string().optional(),
  redirectUris: z.array(z.string()),
  /** Whether it takes refresh tokens. */
  refreshes: z.boolean(),
  /** Whether it promised that all its tokens are bound to its key (RFC 9449 section 5.2). */
  isBound: z.boolean(),
})
/** The same, as a type. */
export type ClientMetadata = z.output<typeof clientMetadata>

/** A client and how it is known. */
export type Client = ClientMetadata & {
  id: string
  /** The id is the address of its document: the host of it is proven, and nothing else. */
  isDocument: boolean
  /** Of the document. */
  host?: string
}

/** A client that cannot be had, in words for the person in front of the page. */
export type NoClient = { refused: string }

const nameLengthMax = 60
const redirectUrisMax = 10

/** What it tells, as it comes: unknown fields are ignored (RFC 7591 section 2). */
export const toldMetadata = z.looseObject({
  redirect_uris: z.array(z.string()).min(1).max(redirectUrisMax),
  client_name: z.string().max(1000).optional(),
  client_uri: z.string().max(2048).optional(),
  grant_types: z.array(z.string()).max(20).default(['authorization_code']),
  response_types: z.array(z.string()).max(20).default(['code']),
  token_endpoint_auth_method: z.string().optional(),
  dpop_bound_access_tokens: z.boolean().default(false),
})
/** The same, as a type. */
export type ToldMetadata = z.output<typeof toldMetadata>

/** The part that is kept; redirect addresses of forms that nobody is sent to are left out. */
export function metadataFrom(told: ToldMetadata): ClientMetadata {
  const uri = told.client_uri
  return {
    name:
      Array.from(visibleLine(told.client_name ?? ''))
        .slice(0, nameLengthMax)
        .join('') || 'An app without a name',
    ...(uri !== undefined && isRedirectUri(uri) && uri.startsWith('https:') ? { uri } : {}),
    redirectUris: told.redirect_uris.filter(isRedirectUri),
    refreshes: told.grant_types.includes('refresh_token'),
    isBound: told.dpop_bound_access_tokens,
  }
}
