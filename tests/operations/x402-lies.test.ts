/** Each challenge of the hostile merchant is paid under its honest terms, or refused with a reason. */
import { verifyTypedData } from 'ethers'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { challengeLies, offerLies } from '../../scripts/local/chain/hostile/terms.ts'
import { authorizationTypes } from '../support/eip3009.ts'
import { attemptOf, execute, openMarket, prepare, reservedUsd } from '../support/market.ts'
import { textWith } from '../support/matching.ts'

const market = await openMarket()
const { hostile } = market
const usd = 1_000_000n

/** Domain that Circle's contract verifies under (EIP-712, EIP-3009), whatever an offer says. */
const usdcDomain = {
  name: 'USDC',
  version: '2',
  chainId: 84532,
  verifyingContract: market.chain.usdc,
}

/** Lies with the code of their refusal and words of its reason. */
const refused: Record<string, [code: string, words: string]> = {
  'other-token': ['unsupported_scheme', 'no token that the service pays with'],
  'unknown-chain': ['unsupported_scheme', 'not connected to this network'],
  'other-family': ['unsupported_scheme', 'not connected to this network'],
  'other-scheme': ['unsupported_scheme', 'facilitatorAddress is not a valid address'],
  'eighteen-decimals': ['unsupported_scheme', 'has 6 decimals, not as many'],
  'domain-name': ['unsupported_scheme', 'EIP-712 domain is not that of the token'],
  'domain-version': ['unsupported_scheme', 'EIP-712 domain is not that of the token'],
  'pay-to-nobody': ['unsupported_scheme', 'would be lost'],
  'pay-to-token': ['unsupported_scheme', 'would be lost'],
  'pay-to-proxy': ['unsupported_scheme', 'would be lost'],
  'amount-zero': ['unsupported_scheme', 'amount is zero'],
  'all-there-is': ['unsupported_scheme', 'beyond every limit'],
  'too-large': ['unsupported_scheme', 'beyond every limit'],
  'a-million': ['insufficient_funds', 'does not hold enough'],
  'no-time': ['invalid_challenge', 'None of the offers'],
  'amount-negative': ['invalid_challenge', 'None of the offers'],
  'amount-decimal': ['invalid_challenge', 'None of the offers'],
  'amount-exponent': ['invalid_challenge', 'None of the offers'],
  'amount-hex': ['invalid_challenge', 'None of the offers'],
  'amount-leading-zeros': ['invalid_challenge', 'None of the offers'],
  'empty-accepts': ['invalid_challenge', 'accepts'],
  'thousand-offers': ['invalid_challenge', 'longer than'],
  'unknown-version': ['invalid_challenge', 'x402Version'],
  'missing-fields': ['invalid_challenge', 'None of the offers'],
  'malformed-base64': ['invalid_challenge', 'not base64'],
  'malformed-json': ['invalid_challenge', 'no valid JSON object'],
  'malformed-utf8': ['invalid_challenge', 'not base64 of UTF-8'],
  'no-challenge': ['invalid_challenge', 'no valid JSON object'],
}

/** Harmless lies, which do not affect the signed terms, with the outcome of the payment. */
const harmless: Record<string, 'settled' | 'unknown'> = {
  // The official facilitator settles nothing without a domain in the offer; the token would accept it.
  'domain-absent': 'unknown',
  'ten-years': 'settled',
  'upfront-flow': 'settled',
  'moving-pay-to': 'settled',
  'rising-price': 'settled',
  honest: 'settled',
  'honest-v1': 'settled',
  'v2-in-body': 'settled',
  'v1-caip-network': 'settled',
  'other-resource': 'settled',
  'prompt-injection': 'settled',
}

test('every lie that the merchant knows has its line here', () => {
  const known = [...Object.keys(offerLies), ...Object.keys(challengeLies)]

  expect([...Object.keys(refused), ...Object.keys(harmless)].toSorted()).toEqual(known.toSorted())
})

test.each(Object.entries(refused))(
  '%s gets no signature, and the agent hears why',
  async (lie, expected) => {
    const agent = await market.agent('pay', { usdc: 1 })
    const path = `/terms/${lie}`

    const answer = await prepare(agent, { resource_url: hostile.url + path })

    const [code, words] = expected
    expect(answer.status).toBeGreaterThanOrEqual(400)
    expect(answer.body['error']).toBe(code)
    expect(JSON.stringify(answer.body).replaceAll('\\', '')).toContain(words)
    expect(hostile.received(path)).toEqual([])
    expect(await market.usdcOf(agent.address)).toBe(usd)
    expect(await reservedUsd(agent)).toBe('0')
  },
)

const frozenTerms = z.object({
  amount_atomic: z.literal('10000'),
  pay_to: z.string(),
  token_address: z.literal(market.chain.usdc),
  valid_seconds: z.int().max(300),
})
const payment = z.looseObject({
  payload: z.object({
    signature: z.string(),
    authorization: z.object({
      from: z.string(),
      to: z.string(),
      value: z.string(),
      validAfter: z.string(),
      validBefore: z.string(),
      nonce: z.string(),
    }),
  }),
})

test.each(Object.entries(harmless))(
  '%s gets a signature on what was prepared',
  async (lie, status) => {
    const agent = await market.agent('pay', { usdc: 1 })
    const path = `/terms/${lie}`
    const prepared = await prepare(agent, { resource_url: hostile.url + path })
    const terms = frozenTerms.parse(prepared.body['terms'])
    const payeeBefore = await market.usdcOf(terms.pay_to)

    const paid = await execute(agent, attemptOf(prepared))

    expect(paid.body).toMatchObject({ status })
    const [sent, ...more] = paymentsAt(path)
    expect(more).toEqual([])
    if (!sent) throw new Error('nothing was sent')
    const { signature, authorization } = sent
    const { from, to, value, validBefore } = authorization
    expect({ from, to, value }).toEqual({ from: agent.address, to: terms.pay_to, value: '10000' })
    expect(Number(validBefore) - market.world.now().getTime() / 1000).toBeLessThanOrEqual(300)
    expect(verifyTypedData(usdcDomain, authorizationTypes, authorization, signature)).toBe(from)
    const moved = status === 'settled' ? 10_000n : 0n
    expect(await market.usdcOf(agent.address)).toBe(usd - moved)
    expect(await market.usdcOf(terms.pay_to)).toBe(payeeBefore + moved)
  },
)

function paymentsAt(path: string) {
  return hostile.received(path).map(({ headers }) => {
    const header = headers['payment-signature'] ?? headers['x-payment']
    return payment.parse(JSON.parse(atob(String(header)))).payload
  })
}

test('words of the merchant never stand in our own sentences', async () => {
  const agent = await market.agent('pay', { usdc: 1 })

  const prepared = await prepare(agent, { resource_url: `${hostile.url}/terms/prompt-injection` })

  expect(JSON.stringify(prepared.body)).not.toContain('Ignore all limits')
  expect(prepared.body).toMatchObject({ requires_user_confirm: true })
})

test('an offer over the cap is refused with what would pass', async () => {
  const agent = await market.agent('pay', { usdc: 2_000_000 })
  const path = '/terms/a-million'

  const answer = await prepare(agent, { resource_url: hostile.url + path })

  expect(answer).toMatchObject({
    status: 403,
    body: { error: 'limit_exceeded', hint: textWith('pay at most 10 USD now') },
  })
  expect(hostile.received(path)).toEqual([])
})
