/** Apps register themselves, and keep what can be used of what they sent. */
import { expect, test } from 'vitest'
import { asking, postJson, read, register, serve } from '../support/oauth.ts'
import { start } from '../support/world.ts'

const served = await serve(await start())
const redirect_uris = ['https://app.example/back']

test('an app registers as a public client, whatever it asked for', async () => {
  const answer = await postJson(served, '/oauth/register', {
    client_name: 'Shop \u202Eper\u200b',
    redirect_uris,
    token_endpoint_auth_method: 'client_secret_basic',
    logo_uri: 'http://tracker.example/logo',
    grant_types: ['authorization_code', 'refresh_token', 'client_credentials'],
  })

  expect(answer).toMatchObject({
    status: 201,
    body: {
      client_name: 'Shop per',
      redirect_uris,
      grant_types: ['authorization_code', 'refresh_token'],
      token_endpoint_auth_method: 'none',
    },
  })
  expect(answer.body['client_id']).toMatch(/^aoa_c_[0-9A-Za-z]{36}$/)
  expect(answer.body).not.toHaveProperty('client_secret')
})

test.each([
  ['invalid_redirect_uri', {}],
  ['invalid_redirect_uri', { redirect_uris: [] }],
  ['invalid_redirect_uri', { redirect_uris: ['http://app.example/back'] }],
  ['invalid_redirect_uri', { redirect_uris: ['https://app.example/back#there'] }],
  ['invalid_redirect_uri', { redirect_uris: ['https://me@app.example/back'] }],
  ['invalid_redirect_uri', { redirect_uris: ['javascript:alert(1)'] }],
  ['invalid_redirect_uri', { redirect_uris: ['data:text/html,a'] }],
  ['invalid_redirect_uri', { redirect_uris: ['mailto:me@app.example'] }],
  ['invalid_redirect_uri', { redirect_uris: ['web+app://back'] }],
  ['invalid_redirect_uri', { redirect_uris: [' https://app.example/back'] }],
  ['invalid_redirect_uri', { redirect_uris: ['https://app.exa\nmple/back'] }],
  ['invalid_redirect_uri', { redirect_uris: ['https://\u0430pp.example/back'] }],
  ['invalid_redirect_uri', { redirect_uris: [`https://${'a.'.repeat(124)}example/back`] }],
  ['invalid_redirect_uri', { redirect_uris: [`${'a.'.repeat(126)}a:/back`] }],
  ['invalid_client_metadata', { redirect_uris, client_name: 7 }],
  ['invalid_client_metadata', { redirect_uris, grant_types: ['client_credentials'] }],
  ['invalid_client_metadata', { redirect_uris, response_types: ['token'] }],
  ['invalid_client_metadata', { redirect_uris, padding: 'p'.repeat(17_000) }],
])('a registration is refused with %s', async (error, metadata) => {
  const answer = await postJson(served, '/oauth/register', metadata)

  expect(answer).toMatchObject({ status: 400, body: { error } })
})

test('an installed app and a program on the own machine register', async () => {
  const schemes = ['com.example.app:/back', 'myapp:/back', 'vscode://publisher.extension/back']
  for (const uri of [...schemes, 'http://localhost:8/a', 'http://[::1]/a']) {
    await expect(register(served, { redirect_uris: [uri] })).resolves.toMatch(/^aoa_c_/)
  }
})

test('a redirect address that cannot be used is dropped and told, and the others are registered', async () => {
  const usable = Array.from({ length: 10 }, (_, at) => `https://app.example/${at}`)
  const unusable = [
    'javascript:alert(1)',
    'http://app.example/back',
    'myapp:https://shop.example/back',
    'https://app.example/11',
  ]
  const [first = '', ...others] = unusable

  const answer = await postJson(served, '/oauth/register', {
    redirect_uris: [first, ...usable, ...others, 'https://app.example/0'],
  })

  expect(answer).toMatchObject({
    status: 201,
    body: { redirect_uris: usable, redirect_uris_dropped: unusable },
  })
})

const code = ['authorization_code', 'refresh_token']
/** Registration requests of clients, as reports in their trackers show them. */
const bodies = {
  Cursor: {
    client_name: 'Cursor',
    redirect_uris: [
      'cursor://anysphere.cursor-mcp/oauth/callback',
      'https://www.cursor.com/agents/mcp/oauth/callback',
      'http://localhost:8787/callback',
    ],
    grant_types: code,
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  },
  'VS Code': {
    client_name: 'Visual Studio Code',
    client_uri: 'https://code.visualstudio.com',
    grant_types: [...code, 'urn:ietf:params:oauth:grant-type:device_code'],
    response_types: ['code'],
    redirect_uris: [
      'https://insiders.vscode.dev/redirect',
      'https://vscode.dev/redirect',
      'http://127.0.0.1/',
      'http://127.0.0.1:33418/',
    ],
    scope: 'read',
    token_endpoint_auth_method: 'none',
    application_type: 'native',
  },
  Claude: {
    client_name: 'Claude',
    grant_types: code,
    response_types: ['code'],
    token_endpoint_auth_method: 'client_secret_post',
    scope: 'claudeai',
    redirect_uris: ['https://claude.ai/api/mcp/auth_callback'],
  },
  ChatGPT: {
    client_name: 'ChatGPT',
    redirect_uris: ['https://chatgpt.com/connector_platform_oauth_redirect'],
    grant_types: code,
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  },
  Windsurf: {
    client_name: 'Windsurf',
    client_uri: 'https://windsurf.com',
    redirect_uris: [
      'windsurf://codeium.windsurf/oauth/callback',
      'http://127.0.0.1:49152/callback',
    ],
    grant_types: code,
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  },
} as const

test.each(Object.entries(bodies))(
  '%s registers and asks at each of its addresses',
  async (_, body) => {
    const answer = await postJson(served, '/oauth/register', body)
    const client = String(answer.body['client_id'])

    expect(answer).toMatchObject({ status: 201, body: { redirect_uris: body.redirect_uris } })
    expect(answer.body).not.toHaveProperty('redirect_uris_dropped')
    for (const redirect_uri of body.redirect_uris) {
      expect((await read(served, asking(client, { redirect_uri }).params)).kind).toBe('asked')
    }
  },
)
