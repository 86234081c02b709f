import { contractDigest } from '../../shared/contract/digest.ts'
import { fail } from '../../shared/contract/errors.ts'
import type { GapState } from '../../shared/contract/gap-states.ts'
import type { Operation } from '../../shared/contract/operation.ts'
import type { Service } from '../../shared/contract/service.ts'
import { readGaps } from '../../shared/health/read-gaps.ts'
import { fixedHeaders, refuse } from '../../shared/http/answer.ts'
import type { EdgeFunction } from '../../shared/http/edge.ts'
import type { World } from '../../shared/world.ts'
import { worldFrom } from '../../shared/world.ts'
import { type Document, documentsOf } from './documents.ts'

/** Documents name the state of gaps, which is to reach readers within a minute of a change. */
const maxAgeSeconds = 30
const methods = 'GET, HEAD, OPTIONS'

type Bindings = Record<string, unknown>

/** Serves the documents about these contracts. `worldOf` is replaced only where a test holds the world. */
export function discoveryFunction(
  contracts: readonly Operation[],
  worldOf: (bindings: Bindings) => World = worldFrom,
): EdgeFunction {
  let world: World | undefined
  let made: { from: string; documents: Promise<Document[]> } | undefined
  return {
    async fetch(request, bindings = {}) {
      world ??= worldOf(bindings)
      const gaps = await readGaps(world)
      const from = JSON.stringify(gaps)
      if (made?.from !== from) {
        made = { from, documents: documentsOf(serviceOf(contracts, gaps, world)) }
      }
      return answer(request, await made.documents, world)
    },
  }
}

function serviceOf(
  contracts: readonly Operation[],
  gaps: readonly GapState[],
  { config }: World,
): Service {
  return {
    contracts,
    baseUrl: config.BASE_URL,
    webUrl: config.WEB_URL,
    gaps,
    digest: contractDigest,
  }
}

function answer(request: Request, documents: readonly Document[], world: World): Response {
  const requestId = world.newId()
  // The function's own name stands before the path where a platform routes by folder alone.
  const path = new URL(request.url).pathname.replace(/^\/discovery(?=\/)/, '')
  const found = documents.find((one) => one.path === path || one.aliases.includes(path))
  if (!found) {
    const hint = `The documents are ${documents.map((one) => one.path).join(', ')}.`
    return refuse(fail('not_found', { hint }), requestId)
  }
  if (request.method === 'OPTIONS') return new Response(null, { status: 204, headers: anyOrigin })
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    return refuse(fail('method_not_allowed', { details: { allow: methods } }), requestId)
  }
  const headers = headersOf(found, world.config.BASE_URL, requestId)
  if (isKnown(request, found.etag)) return new Response(null, { status: 304, headers })
  return new Response(request.method === 'HEAD' ? null : found.text, { headers })
}

/** The documents are public, and pages of any origin may read them. */
const anyOrigin = {
  'access-control-allow-origin': '*',
  'access-control-allow-methods': methods,
  'access-control-allow-headers': '*',
  'access-control-max-age': '86400',
}

function headersOf({ path, type, etag }: Document, baseUrl: string, requestId: string): Headers {
  return new Headers({
    ...fixedHeaders(requestId),
    'access-control-allow-origin': '*',
    'access-control-expose-headers': 'etag, link, x-contract-digest',
    'cache-control': `public, max-age=${maxAgeSeconds}`,
    'content-type': type,
    'cross-origin-resource-policy': 'cross-origin',
    etag,
    link: `<${baseUrl}${path}>; rel="canonical"`,
  })
}

/** RFC 9110 section 13.1.2: weak comparison, for a proxy that compresses weakens a tag. */
function isKnown(request: Request, etag: string): boolean {
  const tags = request.headers.get('if-none-match')?.split(',') ?? []
  return tags.some((tag) => ['*', etag].includes(tag.trim().replace(/^W\//, '')))
}
