/**
 * An agent that has only the address of the contract document and a key does what the document
 * describes. Its user approves as a person would; the tests count money on the chain.
 */
import { afterAll, expect, test } from 'vitest'
import * as z from 'zod'
import { contracts } from '../../functions/contracts.ts'
import { documents } from '../../functions/discovery/documents.ts'
import { discoveryFunction } from '../../functions/discovery/serve.ts'
import notFound from '../../functions/not-found/index.ts'
import { listen } from '../../scripts/local/process/listen.ts'
import { type Example, examplesIn, follow, type Listener } from '../support/documents/examples.ts'
import { functionsIn } from '../support/functions.ts'
import { serverThat } from '../support/http.ts'
import { deliver } from '../support/inbound.ts'
import { openMarket, priceAtomic } from '../support/market.ts'
import { ownerOf } from '../support/owner.ts'
import { type Agent, mailDomain } from '../support/world.ts'

const market = await openMarket()
const skillUrl = `${await serve()}/skill.md`
const examples = examplesIn(await (await fetch(skillUrl)).text())

/** Serves every function and the documents behind one address. */
async function serve(): Promise<string> {
  const functions = new Map<string, { fetch(request: Request): Response | Promise<Response> }>()
  const served = await listen((request) => {
    const [, folder = ''] = new URL(request.url).pathname.split('/')
    return (functions.get(folder) ?? functions.get('') ?? notFound).fetch(request)
  })
  afterAll(served.close)
  const { world } = market
  const here = { ...world, config: { ...world.config, BASE_URL: served.url } }
  for (const [folder, one] of functionsIn(here)) functions.set(folder, one)
  functions.set(
    '',
    discoveryFunction({ contracts, documents }, () => here),
  )
  return served.url
}

function section(number: number): Example[] {
  return examples.filter((example) => example.section.startsWith(`${number}. `))
}

const asked = z.object({ confirmation: z.object({ level: z.string(), url: z.url() }) })

/** Plays a user who agrees in words, and in the web app where words are not enough. */
function userOf(agent: Agent) {
  const heard: unknown[] = []
  const user: Listener = async (answer) => {
    heard.push(answer)
    const { confirmation } = asked.parse(answer)
    if (confirmation.level === 'agent_asserted') return
    const owner = await ownerOf(market, agent)
    expect(await owner.decide(idOf(answer), 'approved')).toBe('approved')
  }
  return { user, heard }
}

const identified = z.union([
  z.object({ transfer_id: z.uuid() }).transform(({ transfer_id: id }) => id),
  z.object({ attempt_id: z.uuid() }).transform(({ attempt_id: id }) => id),
])
const idOf = (answer: unknown) => identified.parse(answer)

test.each(['2.5', '40'])('pays %s USDC by the first call order', async (amount) => {
  const agent = await market.agent('pay', { usdc: 100 })
  const payee = await market.agent('read')
  const { user, heard } = userOf(agent)
  const told = { recipient: payee.alias, chain: 'base-sepolia', token: 'USDC', amount }

  const answers = await follow(section(1), { ...told, api_key: agent.key }, user)

  expect(heard).toHaveLength(1)
  expect(answers['proof']).toMatchObject({ status: 'settled', amount, to: payee.address })
  expect(await market.usdcOf(payee.address)).toBe(BigInt(Number(amount) * 1e6))
})

test('buys from a merchant by the second call order', async () => {
  const agent = await market.agent('pay', { usdc: 1 })
  const before = await market.usdcOf(market.merchant.payTo)
  const { user, heard } = userOf(agent)
  const told = { resource_url: market.merchant.v2Url, api_key: agent.key }

  const answers = await follow(section(2), told, user)

  expect(heard).toHaveLength(1)
  expect(answers['agreed']).toMatchObject({ status: 'settled', response: { status: 200 } })
  expect(answers['proof']).toMatchObject({ status: 'settled' })
  expect(await market.usdcOf(market.merchant.payTo)).toBe(before + priceAtomic)
})

const mandate = z.object({ mandate_id: z.uuid(), digest: z.string(), approval_url: z.url() })

test('asks once for a mandate, pays under it unasked and ends it, by the third', async () => {
  const agent = await market.agent('pay', { usdc: 1 })
  const before = await market.usdcOf(market.merchant.payTo)
  const heard: unknown[] = []
  const user: Listener = async (answer) => {
    heard.push(answer)
    const { mandate_id, digest } = mandate.parse(answer)
    const owner = await ownerOf(market, agent)
    await owner.call('owner_decide_mandate', { mandate: mandate_id, decision: 'approved', digest })
  }
  const told = {
    merchant_domain: new URL(market.merchant.v2Url).hostname,
    resource_url: market.merchant.v2Url,
    api_key: agent.key,
  }
  const ending = section(3).filter(({ name }) => name === 'ended')
  const opening = section(3).filter((example) => !ending.includes(example))

  const answers = await follow([...opening, ...section(2), ...ending], told, user)

  expect(heard).toHaveLength(1)
  expect(answers['standing']).toMatchObject({ mandates: [{ status: 'active' }] })
  expect(answers['covered']).toMatchObject({ status: 'settled', consent_level: 'mandate' })
  expect(answers['agreed']).toBeUndefined()
  expect(answers['ended']).toMatchObject({ status: 'revoked' })
  expect(await market.usdcOf(market.merchant.payTo)).toBe(before + priceAtomic)
})

const otp = '<input name="code" autocomplete="one-time-code">'

test('signs in at a site with a password and a mailed code that it never sees, by the fifth', async () => {
  const agent = await market.agent('pay')
  const code = '604918'
  const letter = {
    to: `${agent.alias}@${mailDomain}`,
    from: 'no-reply@localhost',
    subject: 'Your sign-in code',
    text: `Your sign-in code is ${code}.`,
  }
  const mail = () => deliver(market.world, { ...letter, authenticated: 'localhost' })
  const site = await serverThat((response, { method, url, body }) => {
    const fields = method === 'GET' ? '<input name="user"><input name="pw" type="password">' : otp
    const page = `<p>You sent ${body.toString()}</p><form method="post">${fields}</form>`
    const mailed = method === 'POST' && url === '/login' ? mail() : Promise.resolve()
    response.setHeader('content-type', 'text/html')
    void mailed.then(() => response.end(page))
  })
  const { port } = new URL(site.url)
  const login = { site: `http://localhost:${port}`, username: 'ada', password: 'Canary-1' }
  const { body: stored } = await agent.post('/vault-store', login)
  const owner = await ownerOf(market, agent)
  await owner.call('owner_set_takes_codes', { entry: stored['credential_id'], takes: true })
  const began = market.world.now().toISOString()
  const told = { site: login.site, sender: 'localhost', began, api_key: agent.key }

  const answers = await follow(section(5), told, () => {})

  const received = site.received.map(({ body }) => body.toString())
  expect(received).toEqual(['', `user=ada&pw=${login.password}`, `code=${code}`])
  expect(answers['inside']).toMatchObject({
    filled: ['code'],
    response: { status: 200, body: '' },
  })
  expect(JSON.stringify(answers)).not.toMatch(new RegExp(`${code}|${login.password}`))
})

test('every example is a described call', () => {
  const calls = contracts.map(({ method, folder }) => `${method} /${folder}`)
  const shown = examples.map(({ method, url }) => `${method} ${new URL(url).pathname}`)

  expect(examples.length).toBeGreaterThan(15)
  expect(shown.filter((call) => !calls.includes(call))).toEqual([])
})
