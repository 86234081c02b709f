/**
 * Payments by Permit2 are signed, refused and frozen correctly, as far as this works without Permit2's
 * own code, which only the long tests install.
 */
import { verifyTypedData } from 'ethers'
import { expect, test } from 'vitest'
import { callRpc } from '../../scripts/local/chain/rpc.ts'
import { readUse } from '../../shared/chains/evm/use.ts'
import { addressSchema, wordSchema } from '../../shared/chains/hex.ts'
import { assetOf } from '../../shared/chains/registry.ts'
import type { AuthorizeRequest } from '../../shared/custody/port.ts'
import {
  attemptOf,
  execute,
  openMarket,
  pay,
  prepare,
  priceAtomic,
  reservedUsd,
} from '../support/market.ts'
import { namedWith, textWith } from '../support/matching.ts'
import { authorizing } from '../support/signed.ts'
import { challengeV2, headerOf, payTo, requirementV2 } from '../support/x402.ts'

const market = await openMarket()
const { custody } = market.world
const facilitatorAddress = '0x976EA74026E726554dB657fA54763abd0C3a0aa9'
const exact = requirementV2({ extra: { assetTransferMethod: 'permit2' } })
const upto = requirementV2({ scheme: 'upto', extra: { facilitatorAddress } })
const stored = { transfer_method: 'permit2', scheme: 'upto', requirement: upto }
const sponsoring = { extensions: { eip2612GasSponsoring: { info: {} } } }

const uint256 = (name: string) => ({ name, type: 'uint256' })
const address = (name: string) => ({ name, type: 'address' })
const permitTypes = {
  PermitWitnessTransferFrom: [
    { name: 'permitted', type: 'TokenPermissions' },
    address('spender'),
    uint256('nonce'),
    uint256('deadline'),
    { name: 'witness', type: 'Witness' },
  ],
  TokenPermissions: [address('token'), uint256('amount')],
  Witness: [address('to'), address('facilitator'), uint256('validAfter')],
}
const allowanceTypes = {
  Permit: [
    address('owner'),
    address('spender'),
    uint256('value'),
    uint256('nonce'),
    uint256('deadline'),
  ],
}
const permit2 = '0x000000000022D473030F116dDEE9F6B43aC78BA3'
const permit2Domain = { name: 'Permit2', chainId: 84532, verifyingContract: permit2 }
const usdcDomain = {
  name: 'USDC',
  version: '2',
  chainId: 84532,
  verifyingContract: market.chain.usdc,
}

async function signed(request: AuthorizeRequest) {
  const answer = await custody?.authorize(request)
  if (answer?.outcome !== 'signed' || !answer.authorization) throw new Error('not signed')
  return answer.authorization
}

test('custody signs the stored terms as a permit with its allowance, and answers them again', async () => {
  const payer = await market.agent('pay', { usdc: 10 })
  const request = {
    ...(await authorizing(market, payer, payTo, stored)),
    allowanceNonce: '3',
  }

  const { allowance, signature, nonce } = await signed(request)
  const again = await signed({
    ...request,
    allowanceNonce: '4',
    validBefore: request.validBefore + 1,
  })

  const permitted = { token: market.chain.usdc, amount: 5_000_000n }
  const spender = '0x4020A4f3b7b90ccA423B9fabCc0CE57C6C240002'
  const witness = { to: payTo, facilitator: facilitatorAddress, validAfter: 0 }
  const deadline = request.validBefore
  const permit = { permitted, spender, nonce, deadline, witness }
  expect(verifyTypedData(permit2Domain, permitTypes, permit, signature)).toBe(payer.address)
  const word = { owner: payer.address, spender: permit2, value: 5_000_000n, nonce: 3, deadline }
  const ofAllowance = allowance?.signature ?? ''
  expect(verifyTypedData(usdcDomain, allowanceTypes, word, ofAllowance)).toBe(payer.address)
  expect(again).toEqual({ ...again, signature, nonce, allowance })
})

test('no request can name the facilitator, the spender or the amount of a permit', async () => {
  const payer = await market.agent('pay', { usdc: 10 })
  const request = await authorizing(market, payer, payTo, stored)

  for (const extra of [{ facilitator: payTo }, { spender: payTo }, { terms: stored }]) {
    await expect(custody?.authorize({ ...request, ...extra })).rejects.toThrow(/unrecognized/i)
  }
})

const proxies = {
  exact: '0x402085c248EeA27D92E8b30b2C58ed07f9E20001',
  upto: '0x4020A4f3b7b90ccA423B9fabCc0CE57C6C240002',
}

function place(code: string, ...places: string[]) {
  const calls = places.map((at) => ['anvil_setCode', at, code] as const)
  return callRpc(market.chain.rpcUrl, calls)
}

test.each([
  ['exact', exact],
  ['upto', upto],
] as const)(
  'on a chain without Permit2 or its proxy %s is not prepared',
  async (scheme, requirement) => {
    const agent = await market.agent('pay', { usdc: 1 })
    const payment_required = headerOf(challengeV2([requirement], sponsoring))
    const asking = { resource_url: market.hostile.url, payment_required }

    const bare = await prepare(agent, asking)
    await place('0x00', permit2)
    const withoutProxy = await prepare(agent, asking)
    await place('0x00', proxies[scheme])
    const whole = await prepare(agent, asking)
    await place('0x', permit2, proxies[scheme])
    const gone = await execute(agent, attemptOf(whole))

    const reason = 'Permit2 and the proxy of x402 are not both on Base Sepolia.'
    const offers = [{ reason, untrusted: namedWith({ scheme }) }]
    const refused = { error: 'unsupported_scheme', details: { offers } }
    expect([bare.body, withoutProxy.body]).toMatchObject([refused, refused])
    expect(gone).toMatchObject({ status: 409, body: { error: 'terms_changed', message: reason } })
    expect(await reservedUsd(agent)).toBe('0')
  },
)

test('where Permit2 is missing, a dearer offer of another kind is taken', async () => {
  const agent = await market.agent('pay', { usdc: 1 })
  const upfront = requirementV2({ amount: '20000', extra: { paymentFlow: 'upfront' } })
  const payment_required = headerOf(challengeV2([exact, upfront], sponsoring))

  const prepared = await prepare(agent, { resource_url: market.hostile.url, payment_required })

  expect(prepared.body).toMatchObject({
    terms: { transfer_method: 'eip3009', amount_atomic: '20000' },
  })
})

test('where a wallet can be paid for by EIP-3009 too, that is what is prepared', async () => {
  const agent = await market.agent('pay', { usdc: 1 })
  const payment_required = headerOf(challengeV2([upto, exact, requirementV2()], sponsoring))

  const prepared = await prepare(agent, { resource_url: market.hostile.url, payment_required })

  expect(prepared.body).toMatchObject({
    terms: { scheme: 'exact', transfer_method: 'eip3009' },
    summary: textWith('Pay 0.01 USDC'),
  })
})

test('what an authorization moved is not taken for what a permit did', async () => {
  const agent = await market.agent('pay', { usdc: 1 })
  const { body } = await pay(agent, { resource_url: market.merchant.v2Url })
  const asset = assetOf({ chain: market.chain.chainId, token: market.chain.usdc })
  const parties = { from: agent.address, to: addressSchema.parse(market.merchant.payTo) }
  const transaction = wordSchema.parse(body['tx_hash'])

  const use = await readUse(market.world, {
    ...asset,
    ...parties,
    amountAtomic: priceAtomic,
    transaction,
  })

  expect(use).toBe('unused')
})
