/** The clients of the current and the previous MCP SDK authorize themselves. */
import type { OAuthDiscoveryState } from '@modelcontextprotocol/client'
import { auth as authNow } from '@modelcontextprotocol/client'
import { auth as authBefore } from '@modelcontextprotocol/sdk/client/auth.js'
import type {
  OAuthClientInformationMixed,
  OAuthTokens,
} from '@modelcontextprotocol/sdk/shared/auth.js'
import { expect, test } from 'vitest'
import { textWith } from '../support/matching.ts'
import { ask, consent, postForm, serve } from '../support/oauth.ts'
import { start } from '../support/world.ts'

const documentUrl = 'https://client.example.com/mcp/client.json'
const clientMetadata = {
  client_name: 'An MCP client',
  redirect_uris: ['http://localhost/callback'],
  grant_types: ['authorization_code', 'refresh_token'],
  token_endpoint_auth_method: 'none',
}

const served = await serve(await start(), (input) => {
  const asked = input instanceof Request ? input.url : String(input)
  expect(asked).toBe(documentUrl)
  return Promise.resolve(Response.json({ ...clientMetadata, client_id: documentUrl }))
})
const eras = { now: authNow, before: authBefore } as const

/** Returns the OAuth storage of a program that listens at a port which it found free. */
function provider(clientMetadataUrl?: string) {
  const kept: {
    client?: OAuthClientInformationMixed
    tokens?: OAuthTokens
    verifier?: string
    sentTo?: URL
  } = {}
  let discovered: OAuthDiscoveryState | undefined
  const redirectUrl = 'http://localhost:49200/callback'
  return {
    kept,
    redirectUrl,
    ...(clientMetadataUrl ? { clientMetadataUrl } : {}),
    clientMetadata: { ...clientMetadata, redirect_uris: [redirectUrl] },
    state: () => 'a state',
    clientInformation: () => kept.client,
    saveClientInformation(client: OAuthClientInformationMixed) {
      kept.client = client
    },
    tokens: () => kept.tokens,
    saveTokens(tokens: OAuthTokens) {
      kept.tokens = tokens
    },
    redirectToAuthorization(url: URL) {
      kept.sentTo = url
    },
    saveCodeVerifier(verifier: string) {
      kept.verifier = verifier
    },
    codeVerifier: () => kept.verifier ?? '',
    discoveryState: () => discovered,
    saveDiscoveryState(state: OAuthDiscoveryState) {
      discovered = state
    },
  }
}

test.each([
  ['now', undefined],
  ['now', documentUrl],
  ['before', undefined],
  ['before', documentUrl],
] as const)(
  'the SDK of %s lets itself in, by the document %s or by registering',
  async (era, url) => {
    const auth = eras[era]
    const agent = await served.tests.agent('read')
    const own = provider(url)
    const options = { serverUrl: `${served.url}/mcp` }

    const first = await auth(own, { ...options, scope: 'pay' })
    const asked = Object.fromEntries(own.kept.sentTo?.searchParams ?? [])
    const back = await consent(served, agent, asked)
    const authorizationCode = back.searchParams.get('code') ?? ''
    const iss = back.searchParams.get('iss') ?? ''
    const second = await auth(own, { ...options, authorizationCode, iss })
    const identity = await ask(served, '/get-identity', {
      headers: { authorization: `Bearer ${own.kept.tokens?.access_token ?? ''}` },
    })
    const before = own.kept.tokens?.refresh_token
    const third = await auth(own, options)

    expect([first, second, third]).toEqual(['REDIRECT', 'AUTHORIZED', 'AUTHORIZED'])
    expect(asked).toMatchObject({
      resource: `${served.url}/mcp`,
      scope: textWith('pay'),
    })
    expect(identity.body).toMatchObject({ account_id: agent.id })
    expect(own.kept.tokens?.refresh_token).not.toBe(before)
    expect(own.kept.client?.client_id).toMatch(url ? documentUrl : /^aoa_c_/)
  },
)

test('a client whose access was ended asks the owner again', async () => {
  const own = provider()
  const options = { serverUrl: `${served.url}/mcp` }
  await authNow(own, options)
  const asked = Object.fromEntries(own.kept.sentTo?.searchParams ?? [])
  const back = await consent(served, await served.tests.agent('read'), asked)
  const authorizationCode = back.searchParams.get('code') ?? ''
  await authNow(own, { ...options, authorizationCode, iss: back.searchParams.get('iss') ?? '' })

  await postForm(served, '/oauth/revoke', { token: own.kept.tokens?.refresh_token ?? '' })

  expect(await authNow(own, options)).toBe('REDIRECT')
})
