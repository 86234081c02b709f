/**
 * A client that resets its connection at any step of a call ends nothing halfway: the built functions run in
 * workerd over the real database, and a repeat under the same Idempotency-Key says what happened.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { buildFunctions } from '../../scripts/build/functions.ts'
import { readFunctions } from '../../scripts/local/functions.ts'
import { listen } from '../../scripts/local/process/listen.ts'
import { choosePorts } from '../../scripts/local/process/ports.ts'
import { startWorkers, type Workers } from '../../scripts/local/workers.ts'
import { atEnd } from '../support/ending.ts'
import { answering, serverThat } from '../support/http.ts'
import { openMailbox } from '../support/mailbox.ts'
import { attemptOf, openMarket, prepare } from '../support/market.ts'
import { approveDestination, entryOf } from '../support/vault-rows.ts'
import { type Agent, userAgent } from '../support/world.ts'

const market = await openMarket()
const { hostile } = market
const { product, custody, vault } = market.bindings
let workers: Workers
/** Calls of the functions to the database since a trial began, and the one that waits for its test. */
let calls = 0
let held: { at: number; reached: PromiseWithResolvers<void>; go: PromiseWithResolvers<void> }

/** Returns what a trial holds: the call to the database with this number. */
function holding(at: number): typeof held {
  calls = 0
  return { at, reached: Promise.withResolvers(), go: Promise.withResolvers() }
}

beforeAll(async () => {
  held = holding(0)
  const database = await listen(async (request) => {
    calls += 1
    if (calls === held.at) {
      held.reached.resolve()
      await held.go.promise
    }
    const { pathname, search } = new URL(request.url)
    const { method, headers } = request
    const body = await request.text()
    const sent = body === '' ? {} : { body }
    return fetch(`${product['SUPABASE_URL']}${pathname}${search}`, { method, headers, ...sent })
  })
  atEnd(() => database.close())
  const modules = mkdtempSync(join(tmpdir(), 'aoa-clients-gone-'))
  afterAll(() => rmSync(modules, { recursive: true, force: true }))
  await buildFunctions(modules)
  const bindings = { ...product, ...custody, ...vault, SUPABASE_URL: database.url }
  const functions = (await readFunctions()).map((one) => ({ ...one, crons: [] }))
  const { functions: port } = await choosePorts(0)
  workers = await startWorkers({ functions, port, modules, bindings, log() {} })
  afterAll(() => workers.stop())
}, 60_000)

type Order = { agent: Agent; path: string; body: object; effects: () => Promise<unknown> }

function headersOf({ agent }: Order, key: string): Record<string, string> {
  return {
    authorization: `Bearer ${agent.key}`,
    'user-agent': userAgent,
    'content-type': 'application/json',
    'idempotency-key': key,
  }
}

async function send(order: Order, key: string) {
  const { path, body } = order
  const sent = { method: 'POST', headers: headersOf(order, key), body: JSON.stringify(body) }
  const answer = await fetch(`${workers.url}${path}`, sent)
  return { status: answer.status, body: await answer.text() }
}

/** Sends an order and goes away, by a reset or in order, once the functions wait for the database. */
async function sendAndGo(order: Order, key: string, isReset: boolean): Promise<void> {
  const { hostname, port, host } = new URL(workers.url)
  const text = JSON.stringify(order.body)
  const length = Buffer.byteLength(text)
  const headers = { host, 'content-length': `${length}`, ...headersOf(order, key) }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => {})
  socket.write(`POST ${order.path} HTTP/1.1\r\n${lines.join('')}\r\n${text}`)
  const answered = new Promise<void>((resolve) => socket.once('data', () => resolve()))
  await Promise.race([held.reached.promise, answered])
  if (isReset) socket.resetAndDestroy()
  else socket.end()
  // By the time that another request is answered, the functions have noticed.
  await fetch(`${workers.url}/skill.md`)
  socket.destroy()
}

const orders: Record<string, () => Promise<Order>> = {
  async transfer() {
    const [agent, payee] = [await market.agent('pay', { usdc: 1 }), await market.agent('pay')]
    await market.acquaint(agent, payee.address)
    const { alias: recipient, address } = payee
    const body = { recipient, chain: 'base-sepolia', token: 'USDC', amount: '0.5' }
    const effects = () => market.usdcOf(address)
    return { agent, path: '/wallet-custodial-transfer', body, effects }
  },
  async execute() {
    const agent = await market.agent('pay', { usdc: 1 })
    const attempt_id = attemptOf(
      await prepare(agent, { resource_url: `${hostile.url}/settled/ok` }),
    )
    const body = { attempt_id, user_confirmed: true }
    const effects = () => market.usdcOf(agent.address)
    return { agent, path: '/x402-payment-execute', body, effects }
  },
  async vault_use() {
    const site = await serverThat(answering(200, { 'content-type': 'text/plain' }, 'welcome'))
    const agent = await market.agent('vault')
    const { origin } = new URL(site.url)
    const credential_id = await entryOf(market, agent, { site: origin, password: 'Canary-1 horse' })
    await approveDestination(market, credential_id, { name: 'pass', path: '/login' })
    const inject = [{ where: 'form_field', name: 'pass', secret: 'password' }]
    const body = { credential_id, method: 'POST', path: '/login', inject }
    return { agent, path: '/vault-use', body, effects: () => Promise.resolve(site.received.length) }
  },
  async mail_send() {
    const { agent } = await openMailbox(market)
    const body = { to: ['ann@people.example'], subject: 'Hello', text: 'Hello.' }
    const effects = async () => {
      const [row] = await market.db.sql<{ count: number }[]>`
        select count(*)::integer as count from private.mails where account = ${agent.id}`
      return row?.count
    }
    return { agent, path: '/mail-send', body, effects }
  },
}

test.each(Object.keys(orders))(
  '%s goes on when its client goes away at any step, and a repeat says what happened',
  async (name) => {
    const order = orders[name]
    if (!order) throw new Error(name)
    // The first call of a worker reads more than each later one.
    await send(await order(), 'first')
    const whole = await order()
    held = holding(0)
    const answer = await send(whole, 'whole')
    const steps = calls
    const done = await whole.effects()

    expect(answer.status).toBe(200)
    expect(steps).toBeGreaterThanOrEqual(3)
    for (let step = 1; step <= steps; step += 1) {
      for (const isReset of step % 2 === 0 ? [true] : [true, false]) {
        const gone = await order()
        held = holding(step)
        await sendAndGo(gone, 'gone', isReset)
        held.go.resolve()
        const repeat = () => send(gone, 'gone').then(({ status }) => status)
        await expect.poll(repeat, { message: `${name} ${step}` }).toBe(200)
        expect(await gone.effects(), `${name} ${step}`).toEqual(done)
      }
    }
  },
  60_000,
)
