import { DEFAULT_ASSETS } from '@x402/evm'
import { EVM_NETWORK_CHAIN_ID_MAP } from '@x402/evm/v1'
import { getAddress } from 'ethers'
import { eurc, usdc } from 'viem/tokens'
import { expect, test } from 'vitest'
import {
  connectedChains,
  findChain,
  knownChains,
  tokenByAddress,
  tokenBySymbol,
} from '../../../shared/chains/registry.ts'

const allTokens = knownChains.flatMap((chain) => chain.tokens.map((token) => ({ chain, token })))
const networkIds: Record<string, number> = EVM_NETWORK_CHAIN_ID_MAP

test('each token address carries the checksum that ethers computes', () => {
  for (const { token } of allTokens) {
    expect(getAddress(token.address.toLowerCase())).toBe(token.address)
  }
})

test("tokens stand at the addresses of viem's own lists, and none of those is missing", () => {
  for (const [symbol, list] of [
    ['USDC', usdc.addresses],
    ['EURC', eurc.addresses],
  ] as const) {
    const listed: Record<number, string> = list
    for (const chain of knownChains) {
      expect([chain.name, tokenBySymbol(chain, symbol)?.address]).toEqual([
        chain.name,
        listed[chain.id],
      ])
    }
  }
})

test('USDC has the EIP-712 domain and address of the official x402 client wherever that lists it', () => {
  const listed = knownChains.filter(({ caip2 }) => DEFAULT_ASSETS[caip2])

  const ours = listed.map((chain) => tokenBySymbol(chain, 'USDC'))

  expect(listed).toHaveLength(7)
  expect(ours).toMatchObject(
    listed.map(({ caip2 }) => {
      const { asset, decimals, name, version } = DEFAULT_ASSETS[caip2]?.[0] ?? {}
      return { address: asset, decimals, domain: { name, version } }
    }),
  )
})

test('networks bear the names of x402 version 1, which maps them to the same ids', () => {
  const named = knownChains.filter(({ name }) => name in networkIds)
  expect(named).toHaveLength(8)
  for (const { id, name } of named) expect(networkIds[name]).toBe(id)
})

test('no two networks share an id or a name', () => {
  for (const key of ['id', 'caip2', 'name', 'title'] as const) {
    expect(new Set(knownChains.map((chain) => chain[key])).size).toBe(knownChains.length)
  }
})

test('a chain is found by CAIP-2 id and by name, never by a bare number or a near miss', () => {
  expect(findChain('eip155:8453')?.name).toBe('base')
  expect(findChain('base-sepolia')?.id).toBe(84532)
  for (const text of ['8453', 'eip155:08453', 'eip155:8453 ', 'solana:8453', '', 'constructor']) {
    expect(findChain(text)).toBeUndefined()
  }
})

test('a token is found by symbol and address in any letter case, on its own chain only', () => {
  const base = knownChains.find((chain) => chain.name === 'base')
  const optimism = knownChains.find((chain) => chain.name === 'optimism')
  if (!base || !optimism) throw new Error('the registry lost a chain')
  const token = tokenBySymbol(base, 'eurc')

  expect(token?.symbol).toBe('EURC')
  expect(tokenByAddress(base, token?.address.toLowerCase() ?? '')).toBe(token)
  expect(tokenByAddress(optimism, token?.address ?? '')).toBeUndefined()
})

test('connected are the chains with an endpoint, in the order of the registry', () => {
  const chainRpcUrls = {
    'eip155:84532': ['http://a'],
    'eip155:1': ['http://b'],
    'eip155:77': ['http://c'],
  }
  expect(connectedChains({ chainRpcUrls }).map((chain) => chain.name)).toEqual([
    'ethereum',
    'base-sepolia',
  ])
})
