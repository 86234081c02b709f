/** x402 by Permit2: what we sign is what the official client signs, to the byte. */
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { UptoEvmScheme } from '@x402/evm/upto/client'
import fc from 'fast-check'
import { bytesToHex, getAddress } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { knownChains } from '../../shared/chains/registry.ts'
import { permit2Spenders, signPermit2 } from '../../shared/custody/permit2.ts'
import { permit2Payload } from '../../shared/x402/permit2.ts'
import { usdcOf } from '../support/x402.ts'

const officialFields = z.object({
  payload: z.looseObject({
    permit2Authorization: z.looseObject({ nonce: z.string(), deadline: z.string() }),
  }),
})

const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length })
const address = bytes(20).map((raw) => getAddress(bytesToHex(raw)))
const key = bytes(32).filter((raw) => (raw[0] ?? 0) < 0xff && raw.some((byte) => byte !== 0))

const order = fc.record({
  key,
  chain: fc.constantFrom(...knownChains),
  payTo: address,
  facilitatorAddress: address,
  amount: fc.bigInt({ min: 1n, max: 2n ** 255n }),
  maxTimeoutSeconds: fc.integer({ min: 10, max: 300 }),
})

const schemes = { exact: ExactEvmScheme, upto: UptoEvmScheme }

test.each(['exact', 'upto'] as const)(
  'for the same nonce and deadline our %s payload by Permit2 is the official one',
  async (scheme) => {
    await fc.assert(
      fc.asyncProperty(order, async (given) => {
        const { chain, payTo, facilitatorAddress, amount, maxTimeoutSeconds } = given
        const token = usdcOf(chain).address
        const account = privateKeyToAccount(bytesToHex(given.key))
        const official = officialFields.parse(
          await new schemes[scheme](account).createPaymentPayload(2, {
            scheme,
            network: `eip155:${chain.id}`,
            amount: amount.toString(),
            asset: token,
            payTo,
            maxTimeoutSeconds,
            extra: { assetTransferMethod: 'permit2', facilitatorAddress },
          }),
        )
        const { nonce, deadline } = official.payload.permit2Authorization

        const signed = await signPermit2(given.key, {
          chainId: chain.id,
          token,
          from: account.address,
          to: payTo,
          valueAtomic: amount,
          validBefore: BigInt(deadline),
          nonce: `0x${BigInt(nonce).toString(16).padStart(64, '0')}`,
          scheme,
          facilitator: facilitatorAddress,
        })
        const facilitator = scheme === 'upto' ? { facilitator: facilitatorAddress } : {}
        const proxy = { spender: permit2Spenders[scheme], token, ...facilitator }

        expect(permit2Payload(signed, proxy)).toEqual(official.payload)
      }),
      { numRuns: 60 },
    )
  },
)
