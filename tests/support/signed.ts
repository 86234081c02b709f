/** Payments that custody has signed and that are not used yet, as a merchant holds them. */
import { credentialOf } from '../../shared/auth/api-key.ts'
import type { AuthorizeRequest, RelayFees, SignedAuthorization } from '../../shared/custody/port.ts'
import { required } from '../../shared/env.ts'
import { hex } from './chain-world.ts'
import { authorizationCall } from './signed-call.ts'
import type { Agent, TestWorld } from './world.ts'

export type Signed = SignedAuthorization & {
  credential: string
  paymentId: string
  /** Request to which custody would give the same answer again. */
  request: AuthorizeRequest
  /** Calldata with which its holder gets the money. */
  calldata: `0x${string}`
}

/** Creates an x402 payment, of 5 USDC by default, as prepare enters it, and the request to sign it. */
export async function authorizing(
  world: TestWorld,
  payer: Agent,
  payee: string,
  terms: object = {},
  atomic = '5000000',
): Promise<AuthorizeRequest & { validBefore: number }> {
  const credential = await credentialOf(payer.key, required(world.world.config, 'API_KEY_PEPPER'))
  const [row] = await world.db.sql<{ id: string }[]>`
    select payment_row ->> 'id' as id from api.begin_payment(${credential}, 'x402', 'device',
      84532, ${world.chain.usdc}, ${atomic}, ${atomic},
      ${JSON.stringify(terms)}::text::jsonb, 600, ${payee}, keyed => true)`
  return {
    credential,
    paymentId: row?.id ?? '',
    consentLevel: 'agent_asserted',
    factsVersion: 1,
    fundsAtomic: '1000000000',
    seenBlock: 1,
    validAfter: 0,
    validBefore: inTenMinutes(world),
  }
}

/** Highest gas price on the chain of the tests. */
export const gasNow: RelayFees = {
  maxFeePerGas: '3000000000',
  maxPriorityFeePerGas: '1000000000',
  dataFeeWei: '0',
}

/** Returns the end of a signature that is requested now, in Unix seconds. */
export function inTenMinutes({ world }: Pick<TestWorld, 'world'>): number {
  return Math.floor(world.now().getTime() / 1000) + 600
}

export async function signedPayment(
  world: TestWorld,
  payer: Agent,
  payee: string,
  atomic?: string,
): Promise<Signed> {
  const request = await authorizing(world, payer, payee, {}, atomic)
  const answer = await world.world.custody?.authorize(request)
  if (answer?.outcome !== 'signed' || !answer.authorization) throw new Error('not signed')
  const { authorization } = answer
  const calldata = hex(authorizationCall(authorization))
  const { credential, paymentId } = request
  return { ...authorization, credential, paymentId, request, calldata }
}
