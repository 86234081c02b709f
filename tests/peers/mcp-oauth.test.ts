/** The official clients get from a bare address to an answered call by themselves. */
import type { StoredOAuthClientInformation, StoredOAuthTokens } from '@modelcontextprotocol/client'
import {
  Client as ModernClient,
  StreamableHTTPClientTransport as ModernTransport,
  UnauthorizedError,
} from '@modelcontextprotocol/client'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { beforeAll, expect, test } from 'vitest'
import { contracts } from '../../functions/contracts.ts'
import { isForModels } from '../../shared/contract/documents/about.ts'
import type { GrantChoice } from '../../shared/oauth/token.ts'
import { typed } from '../support/mcp.ts'
import { consent, redirectUri, type Served, serve } from '../support/oauth.ts'
import { type Agent, start } from '../support/world.ts'

/** Tools where no vault is offered. */
const payable = contracts
  .filter((contract) => isForModels(contract) && contract.gap !== 'GAP_DEFI_AUTOMATION_V1')
  .map(({ id }) => id)

const itself = { name: 'guarantee', version: '1.0' }
/** Address of an app's metadata document, which the test answers instead of the network. */
const document = 'https://desk.research-app.com/client.json'
const metadata = {
  client_name: 'Research desk',
  redirect_uris: [redirectUri],
  grant_types: ['authorization_code', 'refresh_token'],
  token_endpoint_auth_method: 'none',
}

let served: Served
let agent: Agent
beforeAll(async () => {
  const tests = await start()
  const { fetch } = tests.world
  const described: typeof fetch = async (input, init) => {
    const { url } = new Request(input)
    return url === document ? Response.json({ client_id: url, ...metadata }) : fetch(input, init)
  }
  tests.world = { ...tests.world, fetch: described }
  served = await serve(tests)
  agent = await tests.agent('read')
})

/** Returns the storage of an app in the form that both clients ask for, and an owner who consents. */
function appOf(clientMetadataUrl?: string) {
  let client: StoredOAuthClientInformation | undefined
  let tokens: StoredOAuthTokens | undefined
  let verifier = ''
  const asked: URL[] = []
  const provider = {
    redirectUrl: redirectUri,
    clientMetadata: metadata,
    ...(clientMetadataUrl && { clientMetadataUrl }),
    clientInformation: () => client,
    saveClientInformation(given: StoredOAuthClientInformation) {
      client = given
    },
    tokens: () => tokens,
    saveTokens(given: StoredOAuthTokens) {
      tokens = given
    },
    codeVerifier: () => verifier,
    saveCodeVerifier(given: string) {
      verifier = given
    },
    redirectToAuthorization(url: URL) {
      asked.push(url)
    },
  }
  /** Consents as the owner, to less if that is named. Returns the address that the browser returns to. */
  const allow = async (choice: Partial<GrantChoice> = {}) => {
    const url = asked.at(-1)
    if (!url) throw new Error('the owner was asked for nothing')
    const back = await consent(served, agent, Object.fromEntries(url.searchParams), choice)
    return back.searchParams
  }
  return { provider, allow, asked }
}

const ways = [
  { way: 'registers', url: undefined },
  { way: 'describes itself at an address', url: document },
]

test.each(ways)(
  'an app of revision 2026-07-28 that $way is let in and can pay',
  async ({ url }) => {
    const { provider, allow, asked } = appOf(url)
    const transport = () =>
      new ModernTransport(new URL(`${served.url}/mcp`), { authProvider: provider })
    const client = () => new ModernClient(itself, { versionNegotiation: { mode: 'auto' } })
    const first = transport()
    await expect(client().connect(first)).rejects.toThrow(UnauthorizedError)

    await first.finishAuth(await allow())
    const connected = client()
    await connected.connect(transport())

    expect(asked[0]?.searchParams.get('scope')).toBe('pay offline_access')
    expect(asked[0]?.searchParams.get('resource')).toBe(`${served.url}/mcp`)
    expect((await connected.listTools()).tools.map(({ name }) => name)).toEqual(payable)
    const answer = await connected.callTool({ name: 'get_identity', arguments: {} })
    expect(answer.structuredContent).toMatchObject({
      account_id: agent.id,
      credential: { kind: 'oauth', scopes: ['pay'] },
    })
  },
)

test.each(ways)(
  'an app of the revisions of 2025 that $way is let in and can pay',
  async ({ url }) => {
    const { provider, allow } = appOf(url)
    const transport = () =>
      new StreamableHTTPClientTransport(new URL(`${served.url}/mcp`), { authProvider: provider })
    const first = transport()
    await expect(new Client(itself).connect(typed(first))).rejects.toThrow()

    await first.finishAuth((await allow()).get('code') ?? '')
    const connected = new Client(itself)
    await connected.connect(typed(transport()))

    expect((await connected.listTools()).tools.map(({ name }) => name)).toEqual(payable)
    const answer = await connected.callTool({ name: 'get_identity', arguments: {} })
    const credential = { kind: 'oauth', scopes: ['pay'] }
    expect(answer).toMatchObject({ structuredContent: { account_id: agent.id, credential } })
  },
)

test('a call over the scope has the app ask its owner for more', async () => {
  const { provider, allow, asked } = appOf()
  const transport = () =>
    new ModernTransport(new URL(`${served.url}/mcp`), { authProvider: provider })
  const client = () =>
    new ModernClient(itself, { versionNegotiation: { mode: { pin: '2026-07-28' } } })
  const first = transport()
  await client()
    .connect(first)
    .catch(() => {})
  await first.finishAuth(await allow({ scopes: ['read', 'vault'] }))
  const [narrow, second] = [client(), transport()]
  await narrow.connect(second)
  const call = { name: 'payment_mandate_revoke', arguments: { mandate_id: agent.id } }

  await expect(narrow.callTool(call)).rejects.toThrow(UnauthorizedError)
  await second.finishAuth(await allow())

  const wide = client()
  await wide.connect(transport())
  const more = asked.at(-1)?.searchParams.get('scope')?.split(' ')
  expect(more).toEqual(expect.arrayContaining(['read', 'vault', 'pay']))
  expect(JSON.stringify((await wide.callTool(call)).content)).toContain('mandate_not_found')
})
