/** Our x402 signature for Permit2 is byte for byte that of the official client. */
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { UptoEvmScheme } from '@x402/evm/upto/client'
import fc from 'fast-check'
import { bytesToHex, getAddress } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { knownChains } from '../../shared/chains/registry.ts'
import { signAllowance, signPermit2 } from '../../shared/custody/permit2.ts'
import { permit2Payload, withAllowance } from '../../shared/x402/payload.ts'
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
        const form = { scheme, facilitator: facilitatorAddress }

        expect(permit2Payload(signed, form, token)).toEqual(official.payload)
      }),
      { numRuns: 60 },
    )
  },
)

const sponsored = z.object({
  payload: officialFields.shape.payload,
  extensions: z.object({ eip2612GasSponsoring: z.object({ info: z.unknown() }) }),
})

test('the allowance that goes with a permit is the one that the official client signs', async () => {
  await fc.assert(
    fc.asyncProperty(order, fc.bigInt({ min: 0n, max: 2n ** 64n }), async (given, nonce) => {
      const { chain, payTo, amount, maxTimeoutSeconds } = given
      const { address: token, domain } = usdcOf(chain)
      const account = privateKeyToAccount(bytesToHex(given.key))
      const readContract = ({ functionName }: { functionName: string }) =>
        Promise.resolve(functionName === 'nonces' ? nonce : 0n)
      const client = new ExactEvmScheme({ ...account, readContract })
      const requirement = {
        scheme: 'exact',
        network: `eip155:${chain.id}` as const,
        amount: amount.toString(),
        asset: token,
        payTo,
        maxTimeoutSeconds,
        extra: { assetTransferMethod: 'permit2', ...domain },
      }
      const context = { extensions: { eip2612GasSponsoring: {} } }
      const official = sponsored.parse(await client.createPaymentPayload(2, requirement, context))
      const { deadline } = official.payload.permit2Authorization

      const signature = await signAllowance(given.key, {
        chainId: chain.id,
        token,
        domain,
        owner: account.address,
        valueAtomic: amount,
        nonce,
        validBefore: BigInt(deadline),
      })

      const signed = {
        from: account.address,
        value: amount.toString(),
        validBefore: deadline,
        allowance: { nonce: nonce.toString(), signature },
      }
      const ours = withAllowance({ eip2612GasSponsoring: {} }, signed, token)

      expect(ours).toEqual(official.extensions)
    }),
    { numRuns: 40 },
  )
})
