/**
 * Clients of the authorization server: their metadata (RFC 7591 section 2), from a registration or from their
 * document, and their redirect URIs. Fields that the service does not use are dropped: it fetches no logo and
 * keeps no key.
 */
import * as z from 'zod'
import { isTokenOfKind } from '../auth/access-token.ts'
import { parseJson } from '../base64.ts'
import { unbound } from '../db/database.ts'
import { checkUrl, type Fetched, safeFetch } from '../egress/safe-fetch.ts'
import type { World } from '../world.ts'
import {
  type Client,
  type ClientMetadata,
  clientMetadata,
  metadataFrom,
  type NoClient,
  sentMetadata,
} from './client-metadata.ts'
import { publishedDocuments } from './published-documents.ts'

const limits = { timeoutMilliseconds: 4000, bytesMax: 5 * 1024 }
/** Longest id that the database can index. */
const idLengthMax = 2048
const keptSeconds = { min: 60, max: 86_400 }

const document = sentMetadata.extend({ client_id: z.string(), client_name: z.string().min(1) })
const documentRow = z.object({ metadata: clientMetadata.nullable(), is_good: z.boolean() })

/** Failure to read a document; `isUnreached` if its server did not say what it holds. */
type Unread = NoClient & { isUnreached: boolean }

/** Returns the client whose document is at this address. */
async function readDocument(world: World, id: string): Promise<Client | NoClient> {
  const checked = checkUrl(id, world.config)
  if ('refused' in checked) return unreadDocument(checked.refused)
  const { url } = checked
  if (id.length > idLengthMax || url.href !== id || url.pathname === '/' || url.hash !== '') {
    return unreadDocument('It is not the plain address of a document.')
  }
  const known = await unbound(world.db).one(
    'oauth_find_document',
    { client_id: id, host: url.hostname },
    documentRow,
  )
  const read = (known?.is_good && known.metadata) || (await fetchDocument(world, url))
  const isUnreached = 'refused' in read && read.isUnreached
  const spare = isUnreached ? (known?.metadata ?? publishedDocuments.get(id)) : undefined
  const metadata = spare ?? read
  if ('refused' in metadata) return { refused: metadata.refused }
  return { ...metadata, id, isDocument: true, host: url.hostname }
}

async function fetchDocument(world: World, url: URL): Promise<ClientMetadata | Unread> {
  const accept = [['accept', 'application/json']] as const
  const answer = await safeFetch(world, { url, method: 'GET', headers: accept }, limits)
  if (answer.kind !== 'answered') {
    return unreadDocument(
      whyNot(answer),
      answer.kind === 'timeout' || answer.kind === 'unreachable',
    )
  }
  const problem = answerProblem(answer)
  const { status } = answer
  if (problem !== undefined)
    return unreadDocument(problem, [403, 429].includes(status) || status >= 500)
  const sent = document.safeParse(parseJson(new TextDecoder().decode(answer.body)))
  if (!sent.success) return unreadDocument('The document lacks what a client has to tell.')
  const wrong = documentProblem(sent.data, url)
  if (wrong !== undefined) return unreadDocument(wrong)
  const metadata = metadataFrom(sent.data)
  await unbound(world.db).run('oauth_keep_document', {
    client_id: url.href,
    metadata,
    seconds: keptSecondsOf(answer.headers),
  })
  return metadata
}

function unreadDocument(why: string, isUnreached = false): Unread {
  const next = isUnreached ? ' That may pass: try again in a few minutes.' : ''
  return { refused: `The app could not be looked up by its address. ${why}${next}`, isUnreached }
}

function whyNot(answer: Exclude<Fetched, { kind: 'answered' }>): string {
  switch (answer.kind) {
    case 'redirected':
      return 'The address leads elsewhere.'
    case 'timeout':
      return 'Its server did not answer in time.'
    case 'unreachable':
      return 'Its server cannot be reached.'
    case 'refused':
      return answer.reason
  }
}

type Answered = Extract<Fetched, { kind: 'answered' }>

function answerProblem({ status, headers, truncated }: Answered): string | undefined {
  if (status !== 200) return `Its server answers with status ${status}.`
  if (truncated) return 'The document is longer than 5 KB.'
  const type = headers.get('content-type')?.split(';')[0]?.trim().toLowerCase() ?? ''
  return /^application\/([a-z0-9.-]+\+)?json$/.test(type) ? undefined : 'It is no JSON document.'
}

function documentProblem(sent: z.output<typeof document>, url: URL): string | undefined {
  if (sent.client_id !== url.href) return 'The document names another client.'
  // Section 4.1 of the draft: a client cannot share a secret with a server that it meets for the first
  // time.
  const isSecret = 'client_secret' in sent || 'client_secret_expires_at' in sent
  if (isSecret || (sent.token_endpoint_auth_method ?? 'none') !== 'none') {
    return 'The document asks for a client secret or key, and only public clients are taken.'
  }
  const usable = metadataFrom(sent).redirectUris.length > 0
  return usable ? undefined : 'The document names no redirect address that can be used.'
}

function keptSecondsOf(headers: Headers): number {
  const control = headers.get('cache-control') ?? ''
  const [, age = '0'] = /(?:^|[\s,])max-age="?([0-9]{1,9})/i.exec(control) ?? []
  const asked = /no-store|no-cache/i.test(control) ? 0 : Number(age)
  return Math.min(Math.max(asked, keptSeconds.min), keptSeconds.max)
}

const clientRow = z.object({ metadata: clientMetadata })

/** Finds the client with this id. */
export async function findClient(world: World, id: string): Promise<Client | NoClient> {
  return isTokenOfKind('client', id) ? findRegistered(world, id) : readDocument(world, id)
}

/** Finds a client that registered with this id. */
export async function findRegistered(world: World, id: string): Promise<Client | NoClient> {
  const row = await unbound(world.db).one('oauth_find_client', { client_id: id }, clientRow)
  if (!row) return { refused: 'The app is not known here. It has to register again.' }
  return { ...row.metadata, id, isDocument: false }
}
