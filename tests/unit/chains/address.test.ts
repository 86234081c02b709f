import { getAddress, isAddress } from 'ethers'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { lossReasonOf, readAddress } from '../../../shared/chains/evm/address.ts'
import { type Address, findChain, knownChains } from '../../../shared/chains/registry.ts'

const digit = fc.constantFrom(...Array.from('0123456789abcdefABCDEF'))
const hexText = (length: number) => fc.string({ unit: digit, minLength: length, maxLength: length })
const lowerText = hexText(40).map((digits): Address => `0x${digits.toLowerCase()}`)

function chain(name: string) {
  const found = findChain(name)
  if (!found) throw new Error(`no chain ${name}`)
  return found
}

// Random letters rarely produce the three valid forms, so those are drawn as often as random text.
const anyText = hexText(40).chain((digits) =>
  fc.constantFrom(digits, digits.toLowerCase(), digits.toUpperCase(), checksum(digits).slice(2)),
)

function checksum(digits: string): string {
  return getAddress(`0x${digits.toLowerCase()}`)
}

test('an address in any mix of letter cases is read exactly as ethers reads it', () => {
  fc.assert(
    fc.property(anyText, (digits) => {
      const text = `0x${digits}`
      const address = checksum(digits)
      expect(readAddress(text)).toEqual(
        isAddress(text) ? { address, checksummed: text === address } : { refused: 'bad_checksum' },
      )
    }),
  )
})

test('a checksummed address is read back, and one letter in the other case is noticed', () => {
  fc.assert(
    fc.property(lowerText, fc.nat(39), (lower, at) => {
      const address = getAddress(lower)
      const place = at + 2
      const letter = address.charAt(place)
      const flipped = letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase()
      const changed = address.slice(0, place) + flipped + address.slice(place + 1)
      expect(readAddress(address)).toEqual({ address, checksummed: true })
      if (changed !== address) expect(readAddress(changed)).not.toMatchObject({ checksummed: true })
    }),
  )
})

test('whatever is not 0x and forty hex digits is refused', () => {
  const good = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'
  const bad = [
    '',
    '0x',
    good.slice(2),
    good.slice(0, -1),
    `${good}0`,
    ` ${good}`,
    `${good}\n`,
    'vitalik.eth',
    good.replace('0x', '0X'),
    good.replace('C', 'С'),
  ]
  for (const text of bad) expect(readAddress(text)).toEqual({ refused: 'not_an_address' })
  fc.assert(
    fc.property(fc.string(), (text) => {
      expect('address' in readAddress(text)).toBe(text.startsWith('0x') && isAddress(text))
    }),
  )
})

test('places where money would be lost are named with their reason', () => {
  const reasons = {
    '0x0000000000000000000000000000000000000000': 'burn_address',
    '0x000000000000000000000000000000000000dEaD': 'burn_address',
    '0x0000000000000000000000000000000000000001': 'precompile',
    '0x00000000000000000000000000000000000000fF': 'precompile',
    '0x0000000000000000000000000000000000000100': 'precompile',
    '0x0000000000000000000000000000000000001010': 'precompile',
    '0x000000000000000000000000ffffFFFFfFFFFFFf': 'precompile',
    '0x0000000000000000000000010000000000000000': undefined,
    '0x0200000000000000000000000000000000000005': 'precompile',
    '0x00000000219ab540356cBB839Cbe05303d7705Fa': 'system_contract',
    '0x402085c248EeA27D92E8b30b2C58ed07f9E20001': 'system_contract',
    '0x4020A4f3b7b90ccA423B9fabCc0CE57C6C240002': 'system_contract',
    '0xcA11bde05977b3631167028862bE2a173976CA11': 'system_contract',
    '0x000000000022D473030F116dDEE9F6B43aC78BA3': 'system_contract',
    '0x4200000000000000000000000000000000000006': 'system_contract',
    '0x000F3df6D732807Ef1319fB7B8bB8522d0Beac02': 'system_contract',
    '0x0000F90827F1C53a10cb7A02335B175320002935': 'system_contract',
    '0x00000961Ef480Eb55e80D19ad83579A64c007002': 'system_contract',
    '0x0000BBdDc7CE488642fb579F8B00f3a590007251': 'system_contract',
    '0x5FF137D4b0FDCD49DcA30c7CF57E578a026d2789': 'system_contract',
    '0x0000000071727De22E5E9d8BAf0edAc6f37da032': 'system_contract',
    '0x4337084D9E255Ff0702461CF8895CE9E3b5Ff108': 'system_contract',
    '0xba5Ed099633D3B313e4D5F7bdc1305d3c28ba5Ed': 'system_contract',
    '0xDeaDDEaDDeAdDeAdDEAdDEaddeAddEAdDEAd0001': 'burn_address',
    '0xDeadDeAddeAddEAddeadDEaDDEAdDeaDDeAD0000': 'burn_address',
    '0x1111111111111111111111111111111111111111': 'burn_address',
    '0xdAC17F958D2ee523a2206206994597C13D831ec7': 'token_contract',
    '0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2': 'token_contract',
    '0xd9aAEc86B65D86f6A7B5B1b0c42FFA531710b6CA': 'token_contract',
    '0xFF970A61A04b1cA14834A43f5dE4533eBDDB5CC8': 'token_contract',
    '0x70997970C51812dc3A010C7d01b50e0d17dc79C8': undefined,
  } as const
  for (const [address, reason] of Object.entries(reasons)) {
    expect([address, lossReasonOf(`0x${address.slice(2)}`, chain('base'))]).toEqual([
      address,
      reason,
    ])
  }
})

test('a token contract of any known chain is no recipient on any of them, in any letter case', () => {
  for (const { tokens } of knownChains) {
    for (const { address } of tokens) {
      expect(lossReasonOf(address, chain('arbitrum'))).toBe('token_contract')
      expect(lossReasonOf(`0x${address.slice(2).toUpperCase()}`, chain('base'))).toBe(
        'token_contract',
      )
    }
  }
})

test('predeploys are lost places only where the chain has them', () => {
  const weth: Address = '0x4200000000000000000000000000000000000006'
  expect(lossReasonOf(weth, chain('optimism'))).toBe('system_contract')
  expect(lossReasonOf(weth, chain('polygon'))).toBeUndefined()
})
