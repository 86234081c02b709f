/** An app whose document cannot be read now is known by a copy, and a document that says no is believed. */
import { expect, test } from 'vitest'
import { readAuthorizationRequest } from '../../shared/oauth/authorization-request.ts'
import { serverMetadata } from '../../shared/oauth/metadata.ts'
import { publishedDocuments } from '../../shared/oauth/published-documents.ts'
import type { World } from '../../shared/world.ts'
import { answering, serverThat } from '../support/http.ts'
import { asking, read, serve } from '../support/oauth.ts'
import { start } from '../support/world.ts'

const tests = await start()
const served = await serve(tests)
const redirect_uris = ['https://app.example/back']
const asJson = { 'content-type': 'application/json' }

test.each([403, 429, 503])(
  'a copy stands in for a document whose server answers %i',
  async (status) => {
    let isUp = true
    let id = ''
    const server = await serverThat((response, received) => {
      const metadata = { client_id: id, client_name: 'Documented', redirect_uris }
      answering(isUp ? 200 : status, asJson, JSON.stringify(metadata))(response, received)
    })
    id = `${server.url}client.json`
    await read(served, asking(id).params)
    isUp = false
    await tests.tick(3600)

    expect(await read(served, asking(id).params)).toMatchObject({
      kind: 'asked',
      request: { client: { name: 'Documented' } },
    })
  },
)

test('a document that was withdrawn is no longer known by its copy', async () => {
  let isUp = true
  let id = ''
  const server = await serverThat((response, received) => {
    const metadata = { client_id: id, client_name: 'Documented', redirect_uris }
    answering(isUp ? 200 : 404, asJson, JSON.stringify(metadata))(response, received)
  })
  id = `${server.url}client.json`
  await read(served, asking(id).params)
  isUp = false
  await tests.tick(61)

  expect((await read(served, asking(id).params)).kind).toBe('refused')
})

const codex = 'https://chatgpt.com/oauth/codex/client.json'
/** Reads a request of Codex while its vendor's host answers so. */
function readCodex(fetch: World['fetch']) {
  const params = asking(codex, { redirect_uri: 'http://127.0.0.1:41239/callback' }).params
  return readAuthorizationRequest({ ...served.world, fetch }, new URLSearchParams(params))
}

test('what known vendors published stands in where their hosts answer no server, and only there', async () => {
  const refusing = await readCodex(() => Promise.resolve(new Response('', { status: 403 })))
  const offline = await readCodex(() => Promise.reject(new TypeError('fetch failed')))
  const gone = await readCodex(() => Promise.resolve(new Response('', { status: 404 })))
  const other = await readCodex(() => Promise.resolve(Response.json({ client_id: codex })))

  expect([refusing, offline]).toMatchObject(
    Array(2).fill({ kind: 'asked', request: { client: { name: 'Codex' }, isLocal: true } }),
  )
  expect([gone.kind, other.kind]).toEqual(['refused', 'refused'])
})

test.each([...publishedDocuments])(
  'the published document of %s can be asked with',
  async (id, { redirectUris }) => {
    const refusing = () => Promise.resolve(new Response('', { status: 403 }))
    for (const redirect_uri of redirectUris) {
      const { params } = asking(id, { redirect_uri })
      const world = { ...served.world, fetch: refusing }

      expect((await readAuthorizationRequest(world, new URLSearchParams(params))).kind).toBe(
        'asked',
      )
    }
  },
)

test('an operator can have apps register instead of naming documents', async () => {
  const config = { ...served.world.config, OAUTH_CLIENT_DOCUMENTS: 'false' as const }
  const [on, off] = [served.world.config, config].map(serverMetadata)

  expect(on?.client_id_metadata_document_supported).toBe(true)
  expect(off?.client_id_metadata_document_supported).toBe(false)
})
