/**
 * A sign-in link of a mail is a secret, and no answer returns its token. Honest sites open the link with
 * a page that has a button to continue, so that mail scanners use nothing up; its form holds the token.
 */
import { expect, test } from 'vitest'
import { serverThat } from '../support/http.ts'
import { codeOf, entryOf } from '../support/vault-rows.ts'
import { start } from '../support/world.ts'

const world = await start()
const site = await serverThat((response, { url }) => {
  const { pathname, searchParams } = new URL(url, 'http://site')
  const token = searchParams.get('token') ?? decodeURIComponent(pathname.split('/').at(-1) ?? '')
  response.writeHead(200, { 'content-type': 'text/html' })
  response.end(`<form method="post" action="/magic"><input type="hidden" name="token"
    value="${token}"><button>Go on</button></form>`)
})
const origin = new URL(site.url).origin

test.each([
  ['control: digits among its letters', '/magic?token=', 'Xk39dKq02LmZ'],
  ['letters alone, twelve of them', '/magic?token=', 'QwErTyUiOpAs'],
  ['letters alone, in the path', '/magic/', 'QwErTyUiOpAs'],
  ['words with dashes', '/magic?token=', 'faint-mossy'],
  ['base64 in the path', '/magic/', 'Zm9vK2Jhci9xdXg+a2V5'],
  ['base64 with its end in the path', '/magic/', 'bW9zc3kga2V5IDE3Lg=='],
])('a token of %s is not answered', async (_, path, token) => {
  const agent = await world.agent('vault')
  const credential_id = await entryOf(world, agent, { site: origin, password: 'Canary-1 horse' })
  const value = `${origin}${path}${encodeURIComponent(token)}`
  const handle = await codeOf(world, agent, { value, hosts: ['127.0.0.1'], kind: 'link' })

  const answer = await agent.post('/vault-use', {
    credential_id,
    method: 'GET',
    inject: [{ where: 'link', secret: `mail.${handle}` }],
  })

  expect(answer.status).toBe(200)
  expect(JSON.stringify(answer.body)).not.toContain(token)
})
