/**
 * Client ID metadata documents (draft-ietf-oauth-client-id-metadata-document): the id of a client is
 * the https address at which it describes itself. The address was chosen by a stranger, so it is read
 * by the guarded client, in small, and kept for as long as its headers say.
 */
import * as z from 'zod'
import { parseJson } from '../base64.ts'
import { unbound } from '../db/database.ts'
import type { Fetched } from '../egress/safe-fetch.ts'
import { checkUrl, safeFetch } from '../egress/safe-fetch.ts'
import type { World } from '../world.ts'
import type { Client, ClientMetadata, NoClient } from './client-metadata.ts'
import { clientMetadata, metadataFrom, toldMetadata } from './client-metadata.ts'

const limits = { timeoutMilliseconds: 4000, bytesMax: 5 * 1024 }
/** The database finds it by its id, and indexes no longer ones. */
const idLengthMax = 2048
const keptSeconds = { min: 60, max: 86_400 }

const document = toldMetadata.extend({ client_id: z.string(), client_name: z.string().min(1) })
const found = z.object({ metadata: clientMetadata.nullable() })

/** The client that describes itself at this address. */
export async function readDocument(world: World, id: string): Promise<Client | NoClient> {
  const checked = checkUrl(id, world.config)
  if ('refused' in checked) return refused(checked.refused)
  const { url } = checked
  if (id.length > idLengthMax || url.href !== id || url.pathname === '/' || url.hash !== '') {
    return refused('It is not the plain address of a document.')
  }
  const known = await unbound(world.db).one(
    'oauth_find_document',
    { client_id: id, host: url.hostname },
    found,
  )
  const metadata = known?.metadata ?? (await fetchDocument(world, url))
  if ('refused' in metadata) return metadata
  return { ...metadata, id, isDocument: true, host: url.hostname }
}

async function fetchDocument(world: World, url: URL): Promise<ClientMetadata | NoClient> {
  const accept = [['accept', 'application/json']] as const
  const answer = await safeFetch(world, { url, method: 'GET', headers: accept }, limits)
  if (answer.kind !== 'answered') return refused(whyNot(answer))
  const problem = answerProblem(answer)
  if (problem !== undefined) return refused(problem)
  const told = document.safeParse(parseJson(new TextDecoder().decode(answer.body)))
  if (!told.success) return refused('The document lacks what a client has to tell.')
  const wrong = documentProblem(told.data, url)
  if (wrong !== undefined) return refused(wrong)
  const metadata = metadataFrom(told.data)
  await unbound(world.db).run('oauth_keep_document', {
    client_id: url.href,
    metadata,
    seconds: secondsOf(answer.headers),
  })
  return metadata
}

function refused(why: string): NoClient {
  return { refused: `The app could not be looked up by its address. ${why}` }
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

function documentProblem(told: z.output<typeof document>, url: URL): string | undefined {
  if (told.client_id !== url.href) return 'The document names another client.'
  // Section 4.1 of the draft: nobody can have agreed on a secret with who is met for the first time.
  const isSecret = 'client_secret' in told || 'client_secret_expires_at' in told
  if (isSecret || (told.token_endpoint_auth_method ?? 'none') !== 'none') {
    return 'The document asks for a client secret or key, and only public clients are taken.'
  }
  const usable = metadataFrom(told).redirectUris.length > 0
  return usable ? undefined : 'The document names no redirect address that can be used.'
}

function secondsOf(headers: Headers): number {
  const control = headers.get('cache-control') ?? ''
  const [, age = '0'] = /(?:^|[\s,])max-age="?([0-9]{1,9})/i.exec(control) ?? []
  const asked = /no-store|no-cache/i.test(control) ? 0 : Number(age)
  return Math.min(Math.max(asked, keptSeconds.min), keptSeconds.max)
}
