/** Independent clients discover everything from the address alone, and get their tokens. */
import * as oauth from 'oauth4webapi'
import * as openid from 'openid-client'
import { expect, test } from 'vitest'
import { answering, serverThat } from '../support/http.ts'
import { consent, serve } from '../support/oauth.ts'
import { start } from '../support/world.ts'

const served = await serve(await start())
const issuer = new URL(`${served.url}/oauth`)
const redirect_uri = 'https://app.example/back'
const metadata = {
  client_name: 'A library',
  redirect_uris: [redirect_uri],
  grant_types: ['authorization_code', 'refresh_token'],
  token_endpoint_auth_method: 'none',
}
// The libraries require https unless a caller sets this.
const loopback = { [oauth.allowInsecureRequests]: true }

/** Returns a client with a metadata document at its own address. */
async function documented(): Promise<oauth.Client> {
  let client_id = ''
  const server = await serverThat((response, received) => {
    const body = JSON.stringify({ ...metadata, client_id })
    answering(200, { 'content-type': 'application/json' }, body)(response, received)
  })
  client_id = `${server.url}client.json`
  return { client_id }
}

async function registered(as: oauth.AuthorizationServer): Promise<oauth.Client> {
  return oauth.processDynamicClientRegistrationResponse(
    await oauth.dynamicClientRegistrationRequest(as, metadata, loopback),
  )
}

async function discovered() {
  const resource = new URL(served.url)
  const found = await oauth.processResourceDiscoveryResponse(
    resource,
    await oauth.resourceDiscoveryRequest(resource, loopback),
  )
  const [first = ''] = found.authorization_servers ?? []
  const options = { ...loopback, algorithm: 'oauth2' } as const
  const response = await oauth.discoveryRequest(new URL(first), options)
  return oauth.processDiscoveryResponse(new URL(first), response)
}

/** Runs the whole flow of an oauth4webapi client, with or without a DPoP key. */
async function dance(as: oauth.AuthorizationServer, client: oauth.Client, DPoP?: oauth.DPoPHandle) {
  const agent = await served.tests.agent('read')
  const verifier = oauth.generateRandomCodeVerifier()
  const state = oauth.generateRandomState()
  const back = await consent(served, agent, {
    client_id: client.client_id,
    redirect_uri,
    response_type: 'code',
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    scope: 'read offline_access',
    resource: served.url,
    state,
  })
  const options = { ...loopback, ...(DPoP ? { DPoP } : {}) }
  const params = oauth.validateAuthResponse(as, client, back, state)
  const tokens = await oauth.processAuthorizationCodeResponse(
    as,
    client,
    await oauth.authorizationCodeGrantRequest(
      as,
      client,
      oauth.None(),
      params,
      redirect_uri,
      verifier,
      options,
    ),
  )
  const refreshed = await oauth.processRefreshTokenResponse(
    as,
    client,
    await oauth.refreshTokenGrantRequest(
      as,
      client,
      oauth.None(),
      tokens.refresh_token ?? '',
      options,
    ),
  )
  const call = (token: string) =>
    oauth.protectedResourceRequest(
      token,
      'GET',
      new URL(`${served.url}/get-identity`),
      new Headers(),
      null,
      options,
    )
  return { agent, refreshed, call }
}

test.each(['registered', 'documented'])('oauth4webapi does the whole dance, %s', async (how) => {
  const as = await discovered()
  const client = how === 'registered' ? await registered(as) : await documented()

  const { agent, refreshed, call } = await dance(as, client)
  const identity: unknown = await (await call(refreshed.access_token)).json()
  const ended = await oauth.revocationRequest(
    as,
    client,
    oauth.None(),
    refreshed.refresh_token ?? '',
    loopback,
  )
  await oauth.processRevocationResponse(ended)

  expect(identity).toMatchObject({ account_id: agent.id })
  await expect(call(refreshed.access_token)).rejects.toThrow(oauth.WWWAuthenticateChallengeError)
})

test('oauth4webapi binds its tokens to a key, and they are of no use to others', async () => {
  const as = await discovered()
  const client = await registered(as)
  const keys = await oauth.generateKeyPair('ES256')

  const { refreshed, call } = await dance(as, client, oauth.DPoP(client, keys))
  const stolen = await fetch(`${served.url}/get-identity`, {
    headers: { authorization: `Bearer ${refreshed.access_token}` },
  })

  expect(refreshed.token_type).toBe('dpop')
  expect((await call(refreshed.access_token)).status).toBe(200)
  expect(stolen.status).toBe(401)
})

test('oauth4webapi reads the error of a code that was used', async () => {
  const as = await discovered()
  const client = await registered(as)
  const request = () =>
    oauth.genericTokenEndpointRequest(
      as,
      client,
      oauth.None(),
      'refresh_token',
      { refresh_token: 'aoa_rt_unknown' },
      loopback,
    )

  const response = oauth.processRefreshTokenResponse(as, client, await request())

  await expect(response).rejects.toMatchObject({ error: 'invalid_grant', status: 400 })
})

const openidOptions = { execute: [openid.allowInsecureRequests] }

test.each(['oidc', 'oauth2'] as const)(
  'openid-client does the whole dance by %s',
  async (algorithm) => {
    const agent = await served.tests.agent('read')
    const config =
      algorithm === 'oauth2'
        ? await openid.dynamicClientRegistration(issuer, metadata, openid.None(), {
            ...openidOptions,
            algorithm,
          })
        : await openid.discovery(issuer, (await documented()).client_id, undefined, openid.None(), {
            ...openidOptions,
          })
    const pkceCodeVerifier = openid.randomPKCECodeVerifier()
    const expectedState = openid.randomState()
    const asked = openid.buildAuthorizationUrl(config, {
      redirect_uri,
      scope: 'pay',
      code_challenge: await openid.calculatePKCECodeChallenge(pkceCodeVerifier),
      code_challenge_method: 'S256',
      state: expectedState,
    })

    const back = await consent(served, agent, Object.fromEntries(asked.searchParams))
    const tokens = await openid.authorizationCodeGrant(config, back, {
      pkceCodeVerifier,
      expectedState,
    })
    const refreshed = await openid.refreshTokenGrant(config, tokens.refresh_token ?? '')
    const identity = await openid.fetchProtectedResource(
      config,
      refreshed.access_token,
      new URL(`${served.url}/get-identity`),
      'GET',
    )
    await openid.tokenRevocation(config, refreshed.refresh_token ?? '')

    expect(`${asked.origin}${asked.pathname}`).toBe(`${served.world.config.WEB_URL}/authorize`)
    expect(await identity.json()).toMatchObject({ account_id: agent.id })
    await expect(
      openid.refreshTokenGrant(config, refreshed.refresh_token ?? ''),
    ).rejects.toMatchObject({ error: 'invalid_grant' })
  },
)
