/** Sources that name themselves: apps, holders of links, agents with memos, and endpoints of a chain. */
import { expect } from 'vitest'
import { metadataFrom, sentMetadata } from '../../../shared/oauth/client-metadata.ts'
import { askingPath, connectApp, redirectUri, registerApp } from '../apps.ts'
import { openBrowser, signedIn } from '../browserless.ts'
import { serverThat } from '../http.ts'
import { linkOf } from '../links.ts'
import type { Market } from '../market.ts'
import { toolsIn } from '../mcp.ts'
import { openPerson } from '../person.ts'
import type { Agent } from '../world.ts'
import { byHttp } from './callers.ts'
import { hold, holdPage, holdTable } from './heard.ts'
import { asHeader } from './said.ts'
import { callersOf, type Source } from './source.ts'

/** Opens an app with the name that it registered, and one with the name in its document. */
export async function namedApps(market: Market): Promise<Source> {
  const { agent } = await openPerson(market)
  const browser = await signedIn(market, agent)
  return {
    name: 'an app',
    share: 6,
    meets: ['registered', 'document', 'refused'],
    async say(said, pick) {
      const short = said.slice(0, 900)
      const told = { client_name: short, redirect_uris: [redirectUri] }
      if (pick(true, false)) {
        const { name } = metadataFrom(sentMetadata.parse(told))
        const shown = await browser.visit(askingPath(await registerApp(market, { name })))
        holdPage(shown)
        return 'registered'
      }
      const id = `https://app.shop.com/${said.length}-${Math.abs(hashOf(said))}`
      const [status, type] = [
        pick(200, 200, 302, 404),
        pick('application/json', 'application/json', said),
      ]
      const lying = market.worker({
        fetch: (input, init) => {
          const { url } = new Request(input)
          if (url !== id) return fetch(input, init)
          const headers = new Headers({
            'content-type': asHeader(type, 200),
            location: asHeader(said, 900),
          })
          if (pick(false, true)) headers.set('content-encoding', asHeader(said, 300))
          const body = JSON.stringify({ ...told, client_id: id, [short]: short })
          return Promise.resolve(new Response(body, { status, headers }))
        },
      })
      const other = openBrowser(lying)
      for (const [name, value] of browser.cookies) other.cookies.set(name, value)
      const shown = await other.visit(askingPath(id))
      holdPage(shown)
      return shown.status === 200 ? 'document' : 'refused'
    },
  }
}

const hashOf = (text: string) =>
  Array.from(text).reduce((sum, sign) => (Math.imul(sum, 31) + (sign.codePointAt(0) ?? 0)) | 0, 7)

/** Opens the names in the feed: a memo, a connected app, and the login entered at a link. */
export async function namesInTheFeed(market: Market): Promise<Source> {
  const { agent, email } = await openPerson(market, 100)
  const browser = await signedIn(market, agent)
  const callerOf = callersOf(toolsIn(market.world))
  return {
    name: 'a memo, an app and who has a link',
    share: 3,
    meets: ['entered'],
    async say(said, pick) {
      await market.db.sql`delete from private.rate_buckets`
      await market.db.sql`delete from private.vault_entries where account = ${agent.id}`
      const call = callerOf(pick)
      await call(agent, 'wallet_custodial_transfer', {
        recipient: market.hostile.payTo,
        chain: market.chain.network,
        token: 'USDC',
        memo: said.slice(0, 280),
        amount: '0.02',
      })
      const { name } = metadataFrom(
        sentMetadata.parse({ client_name: said.slice(0, 900), redirect_uris: [redirectUri] }),
      )
      const { token } = await connectApp(market, agent, { name })
      hold(await market.send('/get-identity', { headers: { authorization: `Bearer ${token}` } }))
      await enterLogin(market, agent, said)
      await call(agent, 'wallet_activity_list', { limit: 10 })
      const listed = await call(agent, 'vault_list', { limit: 5 })
      const [entry] = listed.body['credentials'] as { credential_id: string }[]
      holdPage(await browser.visit(`/web/vault/${entry?.credential_id ?? ''}`))
      holdPage(await browser.visit(pick('/web/activity', '/web/apps', '/web/vault', '/web')))
      holdTable(await browser.send('/web/activity.csv'))
      const mails = (await market.mails(email)).slice(-3).map(({ text }) => text)
      expect(JSON.stringify(mails)).not.toMatch(/e\.vil/)
      return 'entered'
    },
  }
}

async function enterLogin(market: Market, own: Agent, said: string): Promise<void> {
  const browser = await signedIn(market, own)
  const link = await linkOf(own, { action_type: 'website_login', site: 'https://www.shop.com' })
  const { pathname } = new URL(link.url)
  await browser.visit(pathname, { 'user-agent': asHeader(said, 256) })
  await browser.submit({}, `${pathname}/open`)
  const typed = { username: said.slice(0, 320), password: 'nine blue canaries' }
  const { status } = await browser.submit(typed, `${pathname}/enter`)
  expect(status).toBeLessThan(500)
  await byHttp(own, 'hosted_action_status', { action_id: link.action_id })
}

/** Opens an endpoint of a chain that puts the words into its errors and results. */
export async function lyingEndpoint(market: Market): Promise<Source> {
  const agent = await market.agent('pay', { usdc: 100 })
  return {
    name: 'an endpoint of a chain',
    share: 3,
    meets: ['answered'],
    async say(said, pick) {
      await market.db.sql`delete from private.rate_buckets`
      const error = { code: -32_000, message: said, data: said }
      const isError = pick(true, false)
      const status = pick(200, 200, 500)
      const answer = { jsonrpc: '2.0', id: 1, ...(isError ? { error } : { result: said }) }
      const node = await serverThat((response) =>
        response.writeHead(status, asHeader(said, 300)).end(JSON.stringify(answer)),
      )
      const lying = market.worker({
        fetch: (input, init) => {
          const { url } = new Request(input)
          return fetch(url.startsWith(market.chain.rpcUrl) ? node.url : input, init)
        },
      })
      const order = { recipient: market.hostile.payTo, chain: market.chain.network, token: 'USDC' }
      const balances = await lying.post(agent, '/get-wallet-balances', {})
      const transfer = await lying.post(agent, '/wallet-custodial-transfer', {
        ...order,
        amount: '0.01',
      })
      for (const { status: itsStatus, body } of [balances, transfer]) {
        hold({ body })
        // A refusal says that the chain cannot be read.
        if (itsStatus >= 500) expect(body['error']).toBe('unavailable')
      }
      return 'answered'
    },
  }
}
