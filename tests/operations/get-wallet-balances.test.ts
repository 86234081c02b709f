import { expect, test } from 'vitest'
import * as z from 'zod'
import { callRpc } from '../../scripts/local/chain/rpc.ts'
import { fund } from '../../scripts/local/chain.ts'
import { expiring, serverThat } from '../support/http.ts'
import { type Agent, type Answer, start } from '../support/world.ts'

const path = '/get-wallet-balances'
const [live, refusing, silent] = ['eip155:84532', 'eip155:421614', 'eip155:11155111']

/** Server that accepts every request and never answers. */
const mute = await serverThat((response, received) => expiring(world)(response, received))
const world = await start({
  chain: true,
  rpcUrls: { [refusing]: ['http://127.0.0.1:9'], [silent]: [mute.url] },
})
const rich = await world.agent('read', { usdc: 250 })
const onLive = (agent: Agent, more: object = {}) => agent.post(path, { chains: [live], ...more })

const balances = z.array(
  z.object({
    chain: z.string(),
    token: z.string(),
    token_address: z.string().nullable(),
    decimals: z.int(),
    amount: z.string(),
    amount_atomic: z.string(),
    usd_value: z.string().nullable(),
  }),
)

function held({ body }: Answer) {
  const all = balances.parse(body['balances'])
  return Object.fromEntries(all.map(({ token, ...rest }) => [token, rest]))
}

test('tells what the chain holds for the wallet, in both forms and in dollars', async () => {
  const answer = await onLive(rich)

  expect(answer.status).toBe(200)
  expect(held(answer)['USDC']).toEqual({
    chain: live,
    token_address: world.chain.usdc,
    decimals: 6,
    amount: '250',
    amount_atomic: '250000000',
    usd_value: '250',
  })
  expect(held(answer)['ETH']).toMatchObject({ token_address: null, amount: '0', usd_value: null })
  expect(answer.body).toMatchObject({ total_usd: '250', reserved_usd: '0', available_usd: '250' })
})

test('a new wallet holds nothing and says so', async () => {
  const answer = await onLive(await world.agent('read'))
  expect(held(answer)['USDC']).toMatchObject({ amount: '0', amount_atomic: '0', usd_value: '0' })
  expect(answer.body).toMatchObject({ total_usd: '0', available_usd: '0' })
})

test('the smallest and the largest amounts are exact', async () => {
  const agent = await world.agent('read')
  await fund(world.chain, agent.address, { usdcAtomic: 2n ** 60n + 1n, weiAmount: 1n })
  const { USDC, ETH } = held(await onLive(agent))
  expect(USDC).toMatchObject({
    amount_atomic: '1152921504606846977',
    amount: '1152921504606.846977',
    usd_value: '1152921504606.846977',
  })
  expect(ETH).toMatchObject({ amount_atomic: '1', amount: '0.000000000000000001' })
})

test('a chain that does not answer is told as unavailable and fails no other', async () => {
  const { status, body } = await rich.post(path, {})

  expect(status).toBe(200)
  expect(body['chains']).toMatchObject([
    { chain: silent, status: 'unavailable', block_number: null, as_of: null },
    { chain: live, name: 'Base Sepolia', status: 'ok' },
    { chain: refusing, status: 'unavailable', block_number: null, as_of: null },
  ])
  const chains = balances.parse(body['balances']).map(({ chain }) => chain)
  expect(new Set(chains)).toEqual(new Set([live]))
  expect(body).toMatchObject({ total_usd: '250' })
})

test('a chain is told with the block that its balances are of', async () => {
  const { body } = await onLive(rich)
  const [chain] = z
    .array(z.object({ block_number: z.string().regex(/^[1-9][0-9]*$/), as_of: z.iso.datetime() }))
    .parse(body['chains'])
  const number = `0x${BigInt(chain?.block_number ?? 0).toString(16)}`
  const [block] = await callRpc(world.chain.rpcUrl, [['eth_getBlockByNumber', number, false]])
  const { timestamp } = z.looseObject({ timestamp: z.string() }).parse(block)
  expect(new Date(chain?.as_of ?? 0).getTime()).toBe(Number(timestamp) * 1_000)
})

test('what is reserved is not available, and never below zero', async () => {
  const agent = await world.agent('read', { usdc: 100 })
  await reserve(agent, 30)
  expect((await onLive(agent)).body).toMatchObject({
    total_usd: '100',
    reserved_usd: '30',
    available_usd: '70',
  })
  await reserve(agent, 300)
  expect((await onLive(agent)).body).toMatchObject({ reserved_usd: '330', available_usd: '0' })
})

test('shows the tokens that are asked for, by symbol or address in any letter case', async () => {
  const asked = ['USDC', 'usdc', world.chain.usdc, world.chain.usdc.toLowerCase()]
  for (const token of asked) {
    expect(Object.keys(held(await onLive(rich, { tokens: [token] }))), token).toEqual(['USDC'])
  }
  expect(Object.keys(held(await onLive(rich, { tokens: ['eth'] })))).toEqual(['ETH'])
})

test('a chain that is named twice is read once', async () => {
  const { body } = await rich.post(path, { chains: [live, 'base-sepolia', live] })
  expect(body['chains']).toHaveLength(1)
})

test.each([
  [{ chains: ['base'] }, 'unsupported_chain'],
  [{ chains: ['eip155:1'] }, 'unsupported_chain'],
  [{ chains: ['8453'] }, 'unsupported_chain'],
  [{ chains: [live], tokens: ['DOGE'] }, 'unsupported_token'],
  [{ chains: [live], tokens: [`0x${'1'.repeat(40)}`] }, 'unsupported_token'],
])('refuses %j as %s', async (body, error) => {
  expect(await rich.post(path, body)).toMatchObject({ status: 422, body: { error } })
})

test.each([
  { chains: [] },
  { chains: 'base' },
  { chains: [true] },
  { chains: [''] },
  { chains: Array.from({ length: 33 }, () => live) },
  { tokens: [] },
  { tokens: [null] },
  { tokens: ['x'.repeat(65)] },
])('cannot read %j', async (body) => {
  expect(await rich.post(path, body)).toMatchObject({
    status: 400,
    body: { error: 'invalid_request' },
  })
})

test('any other property is accepted and changes nothing', async () => {
  const plain = await onLive(rich)
  const more = await onLive(rich, { currency: 'EUR', deep: { list: [1, { a: null }] }, limit: 1 })
  expect(more.status).toBe(200)
  expect(more.body['balances']).toEqual(plain.body['balances'])
})

test('a field that is ignored is told if it looks like one of the call', async () => {
  const likely = await onLive(rich, {
    chain: 'base',
    TokenAddress: '0x',
    'chain\n': 1,
    currency: 'EUR',
  })
  const plain = await onLive(rich)

  expect(likely.body['hint']).toBe(
    'chain was ignored: the field is chains, a list. ' +
      'TokenAddress was ignored: the field is tokens, a list.',
  )
  expect(plain.body).not.toHaveProperty('hint')
})

test('an empty body and none at all ask for everything', async () => {
  const apart = await start()
  const headers = { authorization: `Bearer ${(await apart.agent('read')).key}` }
  const typed = { ...headers, 'content-type': 'application/json' }
  const bodies = [
    { headers, body: null },
    { headers: typed, body: null },
    { headers: typed, body: '' },
    { headers: typed, body: '{}' },
  ]
  for (const init of bodies) {
    expect(await apart.send(path, { method: 'POST', ...init })).toMatchObject({
      status: 200,
      body: { chains: [], total_usd: '0' },
    })
  }
})

/** Inserts the reservation of a payment in progress. */
async function reserve(payer: Agent, usd: number) {
  const micros = usd * 1_000_000
  await world.db.sql`
    insert into private.payments (account, key, device, kind, state, chain, token, wallet, payee,
      amount_atomic, amount_usd_micros, expires_at, consent_level, authorized_at, valid_before)
    select ${payer.id}, k.id, 'a device', 'transfer', 'authorized', 84532, ${world.chain.usdc},
      ${payer.address}, ${payer.address}, ${micros}, ${micros}, private.clock(), 'none',
      private.clock(), 1
    from private.credentials k where k.account = ${payer.id} limit 1`
}
