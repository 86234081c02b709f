/** A program that runs in a page of another origin signs its user in and calls the tools. */
import { build } from 'esbuild'
import { afterAll, expect, test } from 'vitest'
import { contracts } from '../../functions/contracts.ts'
import { listen } from '../../scripts/local/process/listen.ts'
import { isForModels } from '../../shared/contract/documents/about.ts'
import { openScene } from '../support/browser/browser.ts'
import { press } from '../support/browser/people.ts'

const scene = await openScene()
const { base_url } = scene.facts

const generations = {
  current: `import { auth, Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'`,
  previous: `
    import { auth } from '@modelcontextprotocol/sdk/client/auth.js'
    import { Client } from '@modelcontextprotocol/sdk/client/index.js'
    import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'`,
}

const program = (imports: string, serverUrl: string) => `${imports}
  const kept = (name) => ({
    get: () => JSON.parse(sessionStorage.getItem(name) ?? 'null') ?? undefined,
    set: (value) => sessionStorage.setItem(name, JSON.stringify(value)),
  })
  const [client, tokens, verifier, discovery] = ['client', 'tokens', 'verifier', 'discovery'].map(kept)
  const authProvider = {
    redirectUrl: location.origin + '/back',
    clientMetadata: { client_name: 'A page', redirect_uris: [location.origin + '/back'] },
    clientInformation: client.get, saveClientInformation: client.set,
    tokens: tokens.get, saveTokens: tokens.set,
    codeVerifier: verifier.get, saveCodeVerifier: verifier.set,
    discoveryState: discovery.get, saveDiscoveryState: discovery.set,
    redirectToAuthorization: (url) => location.assign(url),
  }
  const serverUrl = ${JSON.stringify(serverUrl)}
  const query = new URLSearchParams(location.search)
  const [authorizationCode, iss] = [query.get('code'), query.get('iss')]
  try {
    if (authorizationCode) await auth(authProvider, { serverUrl, authorizationCode, iss })
    const itself = new Client({ name: 'page', version: '1.0' })
    await itself.connect(new StreamableHTTPClientTransport(new URL(serverUrl), { authProvider }))
    const { tools } = await itself.listTools()
    const called = await itself.callTool({ name: 'get_identity', arguments: {} })
    document.title = tools.length + ' tools of ' + called.structuredContent.alias
  } catch (error) {
    document.body.textContent = String(error)
  }`

async function bundle(contents: string): Promise<string> {
  const stdin = { contents, resolveDir: import.meta.dirname }
  const bundled = { bundle: true, write: false, format: 'esm', platform: 'browser' } as const
  const { outputFiles } = await build({ ...bundled, stdin, logLevel: 'error' })
  return outputFiles[0]?.text ?? ''
}

test.each([
  ['current', '/mcp'],
  ['previous', '/mcp/'],
] as const)('a page with the %s SDK is let in at %s and calls', async (generation, path) => {
  const script = await bundle(program(generations[generation], `${base_url}${path}`))
  const site = await listen(({ url }) =>
    url.endsWith('.js')
      ? new Response(script, { headers: { 'content-type': 'text/javascript' } })
      : new Response('<!doctype html><body><script type=module src=/page.js></script>', {
          headers: { 'content-type': 'text/html' },
        }),
  )
  afterAll(site.close)
  const { page, complaints } = await scene.owner()

  await page.goto(site.url)
  await press(page, 'Allow')
  await page.waitForURL(`${site.url}/back?*`)

  const tools = contracts.filter(isForModels)
  await expect.poll(() => page.title()).toMatch(`${tools.length} tools of `)
  // The first request has no token, and there is no stream to open.
  const refused = complaints.splice(0).filter((one) => !/^(401|405) .*\/mcp\/?$/.test(one))
  expect(refused).toEqual([])
})
