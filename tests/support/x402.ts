/**
 * Challenges and offers as an honest merchant of either protocol version makes them, for tests that change
 * one detail.
 */
import { type Chain, findChain, tokenBySymbol } from '../../shared/chains/registry.ts'
import { type Challenge, type FrozenRequest, readChallenge } from '../../shared/x402/challenge.ts'
import { readOfferedTerms } from '../../shared/x402/offers.ts'

type Fields = Record<string, unknown>

export const payTo = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'

export function chainNamed(name: string): Chain {
  const chain = findChain(name)
  if (!chain) throw new Error(`the registry has no ${name}`)
  return chain
}

export function usdcOf(chain: Chain) {
  const token = tokenBySymbol(chain, 'USDC')
  if (!token) throw new Error(`there is no USDC on ${chain.name}`)
  return token
}

/** Returns a requirement of version 2; fields that are undefined in `changes` are left out. */
export function requirementV2(changes: Fields = {}, name = 'base-sepolia'): Fields {
  const chain = chainNamed(name)
  const { address, domain } = usdcOf(chain)
  return without({
    scheme: 'exact',
    network: chain.caip2,
    amount: '10000',
    asset: address,
    payTo,
    maxTimeoutSeconds: 120,
    extra: { ...domain },
    ...changes,
  })
}

/** Returns a requirement of version 1. */
export function requirementV1(changes: Fields = {}, name = 'base-sepolia'): Fields {
  const { amount, ...shared } = requirementV2({}, name)
  return without({
    ...shared,
    network: name,
    maxAmountRequired: amount,
    resource: 'https://merchant.com/data',
    description: 'Data',
    mimeType: 'application/json',
    outputSchema: null,
    ...changes,
  })
}

export function challengeV2(accepts: unknown = [requirementV2()], changes: Fields = {}): Fields {
  const resource = { url: 'https://merchant.com/data', description: 'Daten für 🌍' }
  return without({ x402Version: 2, error: 'Payment required', resource, accepts, ...changes })
}

export function challengeV1(accepts: unknown = [requirementV1()], changes: Fields = {}): Fields {
  return without({ x402Version: 1, error: 'X-PAYMENT header is required', accepts, ...changes })
}

function without(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}

/** Reads a challenge; throws on a refusal, which means that the test is wrong. */
export function read(value: unknown): Challenge {
  const challenge = readChallenge(value)
  if ('refusal' in challenge) throw new Error(challenge.message)
  return challenge
}

export const bareRequest: FrozenRequest = {
  url: 'https://merchant.com/data',
  method: 'GET',
  headers: [],
  body_base64: null,
}

/** Time at which the challenges of these tests are read. */
export const readAt = new Date('2026-09-01T12:00:00Z')

/** Returns everything that an answer of status 402 requests. */
export function demandIn(headers: Record<string, string>, body?: unknown, request = bareRequest) {
  return readOfferedTerms({ headers: new Headers(headers), body }, request, readAt)
}

/** Returns a header value: base64 of JSON, as servers send it. */
export function headerOf(value: unknown): string {
  return Buffer.from(JSON.stringify(value), 'utf8').toString('base64')
}
