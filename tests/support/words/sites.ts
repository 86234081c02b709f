/** Sites at which secrets are used: answers, and pages with forms. */
import { type Answering, serverThat } from '../http.ts'
import type { Market } from '../market.ts'
import { toolsIn } from '../mcp.ts'
import { approveAsked, approveDestination, entryOf } from '../vault-rows.ts'
import { asHeader } from './said.ts'
import { callersOf, type Source } from './source.ts'

const secret = { password: 'a canary of 9 words' }
const quoted = (text: string) => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;')

async function siteOf(market: Market) {
  let answer: Answering = (response) => response.end()
  const { url } = await serverThat((response, received) => answer(response, received))
  const agent = await market.agent('pay')
  const credential_id = await entryOf(market, agent, { site: new URL(url).origin, ...secret })
  return {
    agent,
    credential_id,
    callerOf: callersOf(toolsIn(market.world)),
    says: async (said: Answering) => {
      answer = said
      await market.db.sql`delete from private.rate_buckets`
    },
  }
}

/** Opens a site that answers a request with a secret. */
export async function answeringSite(market: Market): Promise<Source> {
  const { agent, credential_id, callerOf, says } = await siteOf(market)
  await approveDestination(market, credential_id, { name: 'p' })
  const inject = [{ where: 'form_field', name: 'p', secret: 'password' }]
  return {
    name: 'a site',
    share: 16,
    meets: [200, 502],
    async say(said, pick) {
      const status = pick(200, 302, 404, 500)
      const isEncoded = pick(false, false, false, true)
      await says((response) =>
        response
          .writeHead(status, asHeader(said, 500), {
            location: asHeader(said, 2_000),
            'set-cookie': [asHeader(said, 4_000), `a=${asHeader(said, 300)}`],
            hint: asHeader(said, 300),
            ...(isEncoded ? { 'content-encoding': asHeader(said, 300) } : {}),
          })
          .end(said),
      )
      const order = { credential_id, method: 'POST', path: '/', inject }
      const used = await callerOf(pick)(agent, 'vault_use', order)
      return used.body['error'] === undefined ? 200 : 502
    },
  }
}

/** Opens a page with a form, and the page after it is submitted. */
export async function pageOfForms(market: Market): Promise<Source> {
  const { agent, credential_id, callerOf, says } = await siteOf(market)
  return {
    name: 'a page with forms',
    share: 12,
    meets: ['answered', 'destination_not_approved'],
    async say(said, pick) {
      const place = pick('name', 'action', 'value')
      const [name, action, value] = ['name', 'action', 'value'].map((one) =>
        one === place ? quoted(said) : '',
      )
      const form = `<form method="post" action="/login?${action}"><input name="user"><input name="${name || 'password'}"
        type="password"><input name="csrf" value="${value}"></form>`
      await says((response, { method }) =>
        response
          .writeHead(200, asHeader(said, 500), {
            'content-type': 'text/html',
            hint: asHeader(said),
          })
          .end(method === 'GET' ? form : said),
      )
      const call = callerOf(pick)
      if (pick(true, false)) {
        await call(agent, 'vault_login', { credential_id, path: '/' })
        await approveAsked(market, credential_id)
      }
      const begun = await call(agent, 'vault_login', { credential_id, path: '/' })
      const { session, error = 'answered' } = begun.body
      if (session !== undefined) await call(agent, 'vault_session', { session, path: '/' })
      await call(agent, 'wallet_activity_list', { limit: 3 })
      return error
    },
  }
}
