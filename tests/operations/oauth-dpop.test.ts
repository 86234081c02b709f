/** A token that is bound to a key (RFC 9449) works only with a fresh proof of that key. */
import { createHash } from 'node:crypto'
import { calculateJwkThumbprint, exportJWK, generateKeyPair, SignJWT } from 'jose'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { ask, codeFor, postForm, refreshWith, register, serve } from '../support/oauth.ts'
import { randomUUID } from '../support/seed.ts'
import { start } from '../support/world.ts'

const tests = await start()
const served = await serve(tests)
const tokenPath = '/oauth/token'
const text = z.string()

type Differing = {
  method?: string
  token?: string
  iat?: number
  header?: Record<string, unknown>
  jti?: string
}

async function openKey(alg = 'ES256') {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true })
  const jwk = await exportJWK(publicKey)
  const proofOf = (path: string, differs: Differing = {}) => {
    const { method = 'POST', token, iat = served.world.now().getTime() / 1000, header } = differs
    const ath = token && createHash('sha256').update(token).digest('base64url')
    const claims = { htm: method, htu: served.url + path, ...(ath ? { ath } : {}) }
    return new SignJWT({ ...claims, jti: differs.jti ?? randomUUID() })
      .setProtectedHeader({ alg, typ: 'dpop+jwt', jwk, ...header })
      .setIssuedAt(Math.floor(iat))
      .sign(privateKey)
  }
  return {
    jwk,
    privateJwk: await exportJWK(privateKey),
    thumbprint: await calculateJwkThumbprint(jwk),
    proofOf,
  }
}

type Key = Awaited<ReturnType<typeof openKey>>

/** Creates a grant whose tokens are bound to this key. */
async function connectWith(key: Key) {
  const client = await register(served)
  const form = await codeFor(served, await tests.agent('read'), client)
  const { body } = await postForm(served, tokenPath, form, { dpop: await key.proofOf(tokenPath) })
  return {
    client,
    type: body['token_type'],
    access: text.parse(body['access_token']),
    refresh: text.parse(body['refresh_token']),
  }
}

async function callWith(scheme: 'DPoP' | 'Bearer', token: string, proof?: string) {
  const headers = { authorization: `${scheme} ${token}`, ...(proof ? { dpop: proof } : {}) }
  return ask(served, '/get-identity', { headers })
}

test.each(['ES256', 'EdDSA'])('a token is bound to the %s key that proved itself', async (alg) => {
  const key = await openKey(alg)
  const { access, type } = await connectWith(key)
  const proof = () => key.proofOf('/get-identity', { method: 'GET', token: access })

  expect(type).toBe('DPoP')
  expect((await callWith('DPoP', access, await proof())).status).toBe(200)
  expect((await callWith('DPoP', access, await proof())).status).toBe(200)
})

test('a stolen token is of no use: as a bearer, without a proof, or with a proof of another key', async () => {
  const [key, thief] = [await openKey(), await openKey()]
  const { access, client, refresh } = await connectWith(key)
  const theirs = await thief.proofOf('/get-identity', { method: 'GET', token: access })

  const tries = [
    await callWith('Bearer', access),
    await callWith('Bearer', access, theirs),
    await callWith('DPoP', access),
    await callWith('DPoP', access, theirs),
  ]

  expect(tries.map(({ status }) => status)).toEqual([401, 401, 401, 401])
  expect(tries[3]?.headers.get('www-authenticate')).toMatch(/, DPoP error="invalid_token", algs=/)
  expect(await refreshWith(served, client, refresh)).toMatchObject({
    status: 400,
    body: { error: 'invalid_grant' },
  })
})

test('a proof is good once', async () => {
  const key = await openKey()
  const { access } = await connectWith(key)
  const proof = await key.proofOf('/get-identity', { method: 'GET', token: access })

  const answers = await Promise.all(
    Array.from({ length: 8 }, () => callWith('DPoP', access, proof)),
  )

  const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b)
  expect(statuses).toEqual([200, ...Array.from({ length: 7 }, () => 401)])
})

test('a proof for something else proves nothing', async () => {
  const key = await openKey()
  const { access: token } = await connectWith(key)
  const right = { method: 'GET', token }
  const now = served.world.now().getTime() / 1000
  const proofs = await Promise.all([
    key.proofOf('/mail-list', right),
    key.proofOf('/mcp', right),
    key.proofOf('/get-identity', { ...right, method: 'POST' }),
    key.proofOf('/get-identity', { method: 'GET' }),
    key.proofOf('/get-identity', { ...right, token: 'another' }),
    key.proofOf('/get-identity', { ...right, iat: now - 70 }),
    key.proofOf('/get-identity', { ...right, iat: now + 70 }),
    key.proofOf('/get-identity', { ...right, header: { typ: 'JWT' } }),
    key.proofOf('/get-identity', { ...right, header: { jwk: key.privateJwk } }),
    key.proofOf('/get-identity', { ...right, header: { jwk: (await openKey()).jwk } }),
    key.proofOf('/get-identity', { ...right, jti: 'j'.repeat(300) }),
  ])

  for (const proof of [...proofs, 'no.jwt.atall'])
    expect((await callWith('DPoP', token, proof)).status).toBe(401)
  const query = await key.proofOf('/get-identity?a=b#c', right)
  expect((await callWith('DPoP', token, query)).status).toBe(200)
})

test('an app that promised to bind its tokens gets none without a proof', async () => {
  const key = await openKey()
  const agent = await tests.agent('read')
  const client = await register(served, { dpop_bound_access_tokens: true })
  const proof = { dpop: await key.proofOf(tokenPath) }

  const bare = await postForm(served, tokenPath, await codeFor(served, agent, client))
  const bound = await postForm(served, tokenPath, await codeFor(served, agent, client), proof)

  expect([bare.status, bound.status]).toEqual([400, 200])
})

test('a code is redeemed by the key that was named when it was asked for', async () => {
  const [key, other] = [await openKey(), await openKey()]
  const agent = await tests.agent('read')
  const client = await register(served)
  const tokensFor = async (dpop: string | undefined) => {
    const form = await codeFor(served, agent, client, { dpop_jkt: key.thumbprint })
    return (await postForm(served, tokenPath, form, dpop ? { dpop } : {})).status
  }

  expect(await tokensFor(await other.proofOf(tokenPath))).toBe(400)
  expect(await tokensFor(undefined)).toBe(400)
  expect(await tokensFor(await key.proofOf(tokenPath))).toBe(200)
})

test('the token endpoint takes a proof for itself, once', async () => {
  const key = await openKey()
  const { client, refresh } = await connectWith(key)
  const dpop = await key.proofOf(tokenPath)
  const withProof = async (proof: string, token: unknown) => {
    const form = { grant_type: 'refresh_token', client_id: client, refresh_token: String(token) }
    return postForm(served, tokenPath, form, { dpop: proof })
  }

  const elsewhere = await withProof(await key.proofOf('/oauth/revoke'), refresh)
  const first = await withProof(dpop, refresh)
  const replayed = await withProof(dpop, first.body['refresh_token'])

  expect([elsewhere.body['error'], first.status]).toEqual(['invalid_dpop_proof', 200])
  expect(replayed.body['error']).toBe('invalid_dpop_proof')
  const next = await withProof(await key.proofOf(tokenPath), first.body['refresh_token'])
  expect(next.body).toMatchObject({ token_type: 'DPoP' })
})

test('proofs of strangers leave nothing behind', async () => {
  const key = await openKey()
  const { access } = await connectWith(await openKey())
  const kept = async () => (await tests.db.sql`select from private.oauth_proofs`).length
  const before = await kept()

  await callWith(
    'DPoP',
    access,
    await key.proofOf('/get-identity', { method: 'GET', token: access }),
  )

  expect(await kept()).toBe(before)
})
