import { contractDigest } from '../../shared/contract/digest.ts'
import type { Service } from '../../shared/contract/documents/about.ts'
import { fail, type Refusal } from '../../shared/contract/errors.ts'
import type { GapState } from '../../shared/contract/gaps.ts'
import { offeredOperations } from '../../shared/contract/offered.ts'
import type { Operation } from '../../shared/contract/operation.ts'
import { sha256Hex } from '../../shared/digest.ts'
import { readGaps } from '../../shared/health/read-gaps.ts'
import { fixedHeaders, refuse } from '../../shared/http/answer.ts'
import type { EdgeFunction } from '../../shared/http/edge.ts'
import { type World, worldFrom } from '../../shared/world.ts'
import type { Document } from './documents.ts'

/** Seconds that a document may be cached. It tells the state of gaps, so they stay below a minute. */
const maxAgeSeconds = 15
const methods = 'GET, HEAD, OPTIONS'

type Bindings = Record<string, unknown>

/** The bytes of a document with their strong entity tag (RFC 9110 section 8.8.3). */
type RenderedDocument = { text: string; etag: string }

/** The documents that are served, and the contracts that they describe. */
type Served = { contracts: readonly Operation[]; documents: readonly Document[] }

/** Makes the function that serves the documents. Only tests replace `worldOf`. */
export function discoveryFunction(
  { contracts, documents }: Served,
  worldOf: (bindings: Bindings) => World = worldFrom,
): EdgeFunction {
  let world: World | undefined
  // A document is made at the first request for it, because most isolates serve one or two.
  let made = { from: '', documents: new Map<Document, Promise<RenderedDocument>>() }
  return {
    async fetch(request, bindings = {}) {
      world ??= worldOf(bindings)
      const requestId = world.newId()
      const found = documentAt(request, documents)
      if (!found) return refuse(notOneOf(documents), requestId)
      if (request.method === 'OPTIONS') return preflight()
      if (request.method !== 'GET' && request.method !== 'HEAD') {
        return refuse(fail('method_not_allowed', { details: { allow: methods } }), requestId)
      }
      const gaps = await readGaps(world)
      const from = JSON.stringify(gaps)
      if (made.from !== from) made = { from, documents: new Map() }
      const making =
        made.documents.get(found) ?? renderDocument(found, serviceOf(contracts, gaps, world))
      made.documents.set(found, making)
      const headers = headersOf(found, world.config.BASE_URL, requestId)
      return serveDocument(request, await making, headers)
    },
  }
}

function notOneOf(documents: readonly Document[]): Refusal {
  const paths = documents.map(({ path }) => path).join(', ')
  return fail('not_found', { hint: `The documents are ${paths}.` })
}

/** Finds the document of a request. A platform that routes by folder alone puts `/discovery` in front. */
function documentAt(request: Request, documents: readonly Document[]): Document | undefined {
  const path = new URL(request.url).pathname.replace(/^\/discovery(?=\/)/, '')
  return documents.find((one) => one.path === path || one.aliases.includes(path))
}

async function renderDocument(document: Document, service: Service): Promise<RenderedDocument> {
  const text = await document.textOf(service)
  return { text, etag: `"${await sha256Hex(text)}"` }
}

function serviceOf(
  contracts: readonly Operation[],
  gaps: readonly GapState[],
  { config }: World,
): Service {
  return {
    contracts: offeredOperations(contracts, config),
    baseUrl: config.BASE_URL,
    webUrl: config.WEB_URL,
    environment: config.ENVIRONMENT,
    gaps,
    digest: contractDigest,
  }
}

function serveDocument(
  request: Request,
  { text, etag }: RenderedDocument,
  headers: Headers,
): Response {
  headers.set('etag', etag)
  if (isKnown(request, etag)) return new Response(null, { status: 304, headers })
  return new Response(request.method === 'HEAD' ? null : text, { headers })
}

/** Answers a CORS preflight: the documents are public, and pages of any origin may read them. */
function preflight(): Response {
  const headers = {
    'access-control-allow-origin': '*',
    'access-control-allow-methods': methods,
    'access-control-allow-headers': '*',
    'access-control-max-age': '86400',
  }
  return new Response(null, { status: 204, headers })
}

function headersOf({ path, type }: Document, baseUrl: string, requestId: string): Headers {
  return new Headers({
    ...fixedHeaders(requestId),
    'access-control-allow-origin': '*',
    'access-control-expose-headers': 'etag, link, x-contract-digest',
    'cache-control': `public, max-age=${maxAgeSeconds}`,
    'content-type': type,
    'cross-origin-resource-policy': 'cross-origin',
    link: `<${baseUrl}${path}>; rel="canonical"`,
  })
}

/** True if `If-None-Match` names the tag, compared weakly: proxies weaken it (RFC 9110 section 13.1.2). */
function isKnown(request: Request, etag: string): boolean {
  const tags = request.headers.get('if-none-match')?.split(',') ?? []
  return tags.some((tag) => ['*', etag].includes(tag.trim().replace(/^W\//, '')))
}
