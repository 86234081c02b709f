/** A delivery stays with the key that paid, whatever a second request with the same signature gets. */
import { expect, test } from 'vitest'
import { serverThat } from '../support/http.ts'
import { attemptOf, execute, openMarket, prepare } from '../support/market.ts'

const market = await openMarket()
const { hostile, chain } = market

/** Returns an isolate whose requests to such an address wait after `stop` and continue after `go`. */
function stoppable(address: string) {
  let isStopped = false
  const gate = Promise.withResolvers<void>()
  const reached = Promise.withResolvers<void>()
  const worker = market.worker({
    fetch: async (input, init) => {
      const url = input instanceof Request ? input.url : String(input)
      if (isStopped && url.includes(address)) {
        reached.resolve()
        await gate.promise
      }
      return fetch(input, init)
    },
  })
  const stop = () => void (isStopped = true)
  const go = () => {
    isStopped = false
    gate.resolve()
  }
  return { worker, stop, reached: reached.promise, go }
}

const keeping = '/rpc/housekeeping_finish_attempt'

test('what was delivered is kept, however long the chain takes to answer', async () => {
  const agent = await market.agent('pay', { usdc: 1 })
  const slow = stoppable(chain.rpcUrl)
  const shop = await serverThat((response, { headers }) => {
    const payment = headers['payment-signature']
    if (payment !== undefined) slow.stop()
    const given = payment === undefined ? {} : { headers: { 'payment-signature': String(payment) } }
    void fetch(`${hostile.url}/settled/ok`, given).then(async (answer) => {
      const asking = answer.headers.get('payment-required')
      response.writeHead(answer.status, asking === null ? {} : { 'payment-required': asking })
      response.end(await answer.text())
    })
  })
  const attempt = attemptOf(await prepare(agent, { resource_url: shop.url }))
  const body = { attempt_id: attempt, user_confirmed: true }

  const first = slow.worker.post(agent, '/x402-payment-execute', body)
  await slow.reached
  const second = await execute(agent, attempt)
  slow.go()

  const delivered = { status: 'settled', response: { status: 200 } }
  expect([second.body, (await first).body]).toMatchObject([delivered, delivered])
})

test('what was delivered is asked for by nobody again, booked as settled or not', async () => {
  const agent = await market.agent('pay', { usdc: 1 })
  const path = '/settled/ok'
  const attempt = attemptOf(await prepare(agent, { resource_url: `${hostile.url}${path}?twice` }))
  const sentBefore = hostile.received(path).length
  const held = stoppable(chain.rpcUrl)
  held.stop()
  await market.tick(31)
  const body = { attempt_id: attempt, user_confirmed: true }

  const slow = held.worker.post(agent, '/x402-payment-execute', body)
  await held.reached
  await rename('housekeeping_note', 'housekeeping_note_away')
  const fast = await execute(agent, attempt)
  held.go()
  const answers = [fast.body, (await slow).body]
  await rename('housekeeping_note_away', 'housekeeping_note')

  const delivered = { status: 'unknown', response: { status: 200 } }
  expect(answers).toMatchObject([delivered, delivered])
  expect(hostile.received(path)).toHaveLength(sentBefore + 1)
})

test('the answer to a second request does not take the place of a paid delivery', async () => {
  const agent = await market.agent('pay', { usdc: 1 })
  const [one, two] = [stoppable(keeping), stoppable(keeping)]
  let paid = 0
  const shop = await serverThat((response, { url, headers }) => {
    const payment = headers['payment-signature']
    if (payment !== undefined) paid += 1
    if (paid > 1) {
      two.stop()
      return void response.writeHead(409).end('{"error":"authorization already used"}')
    }
    const given = payment === undefined ? {} : { headers: { 'payment-signature': String(payment) } }
    void fetch(`${hostile.url}/settled${url}`, given).then(async (answer) => {
      const asking = answer.headers.get('payment-required')
      const text = await answer.text()
      if (payment !== undefined) one.stop()
      response.writeHead(answer.status, asking === null ? {} : { 'payment-required': asking })
      response.end(payment === undefined ? text : '{"goods":"what was paid for"}')
    })
  })
  const attempt = attemptOf(await prepare(agent, { resource_url: `${shop.url}ok` }))
  const body = { attempt_id: attempt, user_confirmed: true }

  const first = one.worker.post(agent, '/x402-payment-execute', body)
  await one.reached
  // The lease of the first request ends before its delivery is stored.
  await market.tick(46)
  const second = two.worker.post(agent, '/x402-payment-execute', body)
  await two.reached
  one.go()
  await first
  two.go()
  const answers = [await first, await second, await execute(agent, attempt)]

  const delivered = { status: 'settled', response: { status: 200 } }
  expect(answers.map((answer) => answer.body)).toMatchObject([delivered, delivered, delivered])
  expect(await market.usdcOf(agent.address)).toBe(990_000n)
})

test('what was bought is answered to the key that paid, and to no other of the account', async () => {
  const agent = await market.agent('pay', { usdc: 1 })
  const other = await agent.withKey('full')
  const shop = `${hostile.url}/settled/ok`
  const attempt = attemptOf(await prepare(agent, { resource_url: shop }))
  const bought = await execute(agent, attempt)

  const others = await execute(other, attempt)
  const again = await execute(agent, attempt)

  expect(bought.body).toMatchObject({ status: 'settled', response: { status: 200 } })
  expect(others).toMatchObject({
    status: 409,
    body: { error: 'payment_closed', details: { reasons: [{ code: 'other_key' }] } },
  })
  expect(others.body).not.toHaveProperty('response')
  expect(again.body).toEqual(bought.body)
})

test('a signature that waits to be sent is sent by the key that it was made for alone', async () => {
  const agent = await market.agent('pay', { usdc: 1 })
  const other = await agent.withKey('full')
  const shop = await serverThat((response, { headers }) => {
    if (headers['payment-signature'] !== undefined) return void response.destroy()
    void fetch(`${hostile.url}/settled/ok`).then((answer) => {
      const asking = String(answer.headers.get('payment-required'))
      response.writeHead(402, { 'payment-required': asking }).end('{}')
    })
  })
  const attempt = attemptOf(await prepare(agent, { resource_url: shop.url }))
  expect((await execute(agent, attempt)).body).toMatchObject({ status: 'unknown' })
  const paid = () =>
    shop.received.filter(({ headers }) => headers['payment-signature'] !== undefined).length
  await market.tick(46)

  const others = await execute(other, attempt)

  expect([others.body['error'], paid()]).toEqual(['payment_closed', 1])
  await execute(agent, attempt)
  expect(paid()).toBe(2)
})

/** Renames a function. Calls to its old name then fail like a fault of the database. */
async function rename(name: string, other: string): Promise<void> {
  await market.db.sql.unsafe(`alter function api.${name} rename to ${other}`)
}
