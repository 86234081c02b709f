/** MPP challenges of any length are paid, or refused with a reason and nothing reserved. */
import { expect, test } from 'vitest'
import { hex, newKey } from '../support/chain-world.ts'
import { sendAs } from '../support/deposits.ts'
import { answering, serverThat } from '../support/http.ts'
import { execute, openMarket, prepare, reservedUsd } from '../support/market.ts'
import { anyText } from '../support/matching.ts'
import { authorizing } from '../support/signed.ts'
import { authorizationCall } from '../support/signed-call.ts'

const market = await openMarket()
const { chain, hostile } = market

const parameters = ['id', 'realm', 'description', 'opaque', 'digest', 'method', 'intent', 'expires']
const terms = ['amount', 'currency', 'recipient', 'note']
const sizes = [1_000, 64_000, 1_000_000]

/** Returns a challenge in which one field, parameter or term has this length. */
function challengeWith(field: string, length: number): string {
  const long = (field === 'amount' ? '1' : 'x').repeat(length)
  const request = {
    amount: '10000',
    currency: chain.usdc,
    recipient: hostile.payTo,
    methodDetails: { chainId: chain.chainId, credentialTypes: ['authorization'] },
    ...(terms.includes(field) ? { [field]: long } : {}),
  }
  const params = {
    id: `${field}-${length}`,
    realm: 'merchant.com',
    method: 'evm',
    intent: 'charge',
    request: Buffer.from(JSON.stringify(request)).toString('base64url'),
    ...(parameters.includes(field) ? { [field]: long } : {}),
  }
  const written = Object.entries(params).map(([name, value]) => `${name}="${value}"`)
  return `Payment ${written.join(', ')}`
}

const refusals = ['unsupported_scheme', 'invalid_request', 'payload_too_large']
const cases = [...parameters, ...terms].flatMap((field) =>
  sizes.map((size) => [field, size] as const),
)

test.each(cases)('a challenge with %s of %s characters', async (field, length) => {
  const challenge = challengeWith(field, length)
  const heard = await serverThat(answering(402, { 'www-authenticate': challenge }, '{}'))
  const given = await serverThat(answering(402, {}, '{}'))

  for (const order of [
    { resource_url: heard.url },
    { resource_url: given.url, www_authenticate: challenge },
  ]) {
    const agent = await market.agent('pay', { usdc: 1 })
    const { status, body } = await prepare(agent, order)
    if (status !== 200) {
      expect([...refusals, 'resource_unavailable', 'invalid_challenge']).toContain(body['error'])
      expect(await reservedUsd(agent)).toBe('0')
      continue
    }
    const paid = await execute(agent, String(body['attempt_id']))
    // The other server answers a bare 402, as official ones do after settling, too.
    const known = order.resource_url === heard.url ? 'rejected_unpaid' : 'unknown'
    expect(paid).toMatchObject({ status: 200, body: { status: known } })
  }
})

test('a settled payment is proven by a challenge with the longest id and realm', async () => {
  const agent = await market.agent('pay', { usdc: 10 })
  const [id, realm] = ['i'.repeat(1_024), 'r'.repeat(1_024)]
  const mpp = { protocol: 'mpp', requirement: { id, realm }, origin: 'https://merchant.com' }
  const request = await authorizing(market, agent, newKey().at, mpp)
  const signed = await market.world.custody?.authorize(request)
  if (signed?.outcome !== 'signed' || !signed.authorization) throw new Error('not signed')
  await sendAs(market, newKey().at, hex(authorizationCall(signed.authorization)))

  const told = await agent.post('/transfer-status', { transfer_id: request.paymentId })

  expect(told).toMatchObject({
    status: 200,
    body: { status: 'settled', proof: { nonce_preimage: `${id}${realm}`, tx_hash: anyText } },
  })
})
