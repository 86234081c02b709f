/** Permits of Permit2 that their payees use, and endpoints that lie about the block of their use. */
import { Interface } from 'ethers'
import {
  decodeFunctionData,
  decodeFunctionResult,
  encodeFunctionResult,
  numberToHex,
  toFunctionSelector,
} from 'viem'
import * as z from 'zod'
import { multicallAbi } from '../../../shared/chains/evm/abi.ts'
import { permit2Address } from '../../../shared/chains/evm/rpc/places.ts'
import { type Hex, hexSchema } from '../../../shared/chains/hex.ts'
import type { AuthorizeRequest } from '../../../shared/custody/port.ts'
import type { Permit2Form } from '../../../shared/custody/typed-digest.ts'
import { permit2Payload } from '../../../shared/x402/payload.ts'
import { hex, newKey } from '../chain-world.ts'
import { sendAs } from '../deposits.ts'
import { permitPayload } from '../permit2.ts'
import { placeContracts, settleStep } from '../play/contracts.ts'
import { authorizing } from '../signed.ts'
import type { Agent, TestWorld } from '../world.ts'
import { node } from './chain.ts'
import { type Lie, saying } from './liar.ts'

const token = new Interface(['function approve(address,uint256)'])

/** Deploys Permit2 and the proxies at their addresses, and approves Permit2 for a wallet's tokens. */
export async function allowPermit2(world: TestWorld, agent: Agent): Promise<void> {
  await placeContracts(world.chain)
  const approve = token.encodeFunctionData('approve', [permit2Address, 10n ** 12n])
  await sendAs(world, agent.address, hex(approve))
}

type PermitTerms = { payee?: Hex; facilitator?: Hex; atomic?: bigint; takes?: bigint }

/** Signs a permit, of 5 USDC by default, and returns the call and a function with which its payee uses it. */
export async function signedPermit(
  world: TestWorld,
  agent: Agent,
  scheme: 'exact' | 'upto',
  over: Partial<AuthorizeRequest> = {},
  permit: PermitTerms = {},
) {
  const { payee = newKey().at, facilitator = newKey().at, atomic = 5_000_000n } = permit
  const requirement = { extra: { facilitatorAddress: facilitator } }
  const terms = { transfer_method: 'permit2', scheme, requirement }
  const seenBlock = Number(await node(world, 'eth_blockNumber'))
  const entered = await authorizing(world, agent, payee, terms, atomic.toString())
  const request = { ...entered, seenBlock, ...over }
  const answer = await world.world.custody?.authorize(request)
  if (answer?.outcome !== 'signed' || !answer.authorization) throw new Error('not signed')
  const form: Permit2Form = scheme === 'upto' ? { scheme, facilitator } : { scheme }
  const signed = permit2Payload(answer.authorization, form, world.chain.usdc)
  const payload = permitPayload.parse(signed)
  const step = settleStep(payload, permit.takes ?? atomic)
  const use = () => sendAs(world, facilitator, hex(step.data), hex(step.target))
  const nonce = BigInt(payload.permit2Authorization.nonce)
  return { id: request.paymentId, payee, nonce, step, use }
}

const snapshotCall = z.tuple([z.object({ data: hexSchema }), z.string()])

/** Shows every nonce, of the token and of Permit2, as used or as unused. */
export function nonces(isUsed: boolean): Lie {
  const functions = ['authorizationState(address,bytes32)', 'nonceBitmap(address,uint256)']
  const selectors = functions.map((one) => toFunctionSelector(one))
  return saying('eth_call', (read, params) => {
    const call = snapshotCall.safeParse(params)
    const answer = hexSchema.safeParse(read)
    if (!call.success || !answer.success) return read
    const asking = decodeFunctionData({ abi: multicallAbi, data: call.data[0].data })
    const inner = asking.functionName === 'aggregate3' ? asking.args[0] : []
    const [abi, functionName] = [multicallAbi, 'aggregate3'] as const
    const results = decodeFunctionResult({ abi, functionName, data: answer.data })
    const result = results.map((one, at) => {
      const asksNonce = selectors.some((selector) => inner[at]?.callData.startsWith(selector))
      const returnData = numberToHex(isUsed ? 1n : 0n, { size: 32 })
      return asksNonce ? { success: true, returnData } : one
    })
    return encodeFunctionResult({ abi, functionName, result })
  })
}

/** Returns state and finality of a payment in the books. */
export async function bookedOf({ db }: TestWorld, id: string) {
  const [row] = await db.sql<{ state: string; finality: string | null }[]>`
    select state, finality from private.payments where id = ${id}`
  return row
}
