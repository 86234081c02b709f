/** Permits of Permit2 that their payees use, and endpoints that tell another block for their use. */
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
import { permit2Address } from '../../../shared/chains/evm/places.ts'
import { hexSchema, wordSchema } from '../../../shared/chains/hex.ts'
import type { Permit2Form } from '../../../shared/custody/permit2-terms.ts'
import type { AuthorizeRequest } from '../../../shared/custody/port.ts'
import { permit2Payload } from '../../../shared/x402/permit2.ts'
import { hex, newKey } from '../chain-world.ts'
import { sendAs, transferTopic } from '../deposits.ts'
import { permitPayload } from '../permit2.ts'
import { placeContracts, settleStep } from '../play/contracts.ts'
import { authorizing } from '../signed.ts'
import type { Agent, TestWorld } from '../world.ts'
import { node } from './chain.ts'
import type { Lie } from './liar.ts'
import { saying } from './liar.ts'

const token = new Interface(['function approve(address,uint256)'])

/** Puts Permit2 and the proxies in their places, and lets Permit2 take what a wallet holds. */
export async function allowPermit2(world: TestWorld, agent: Agent): Promise<void> {
  await placeContracts(world.chain)
  const approve = token.encodeFunctionData('approve', [permit2Address, 10n ** 12n])
  await sendAs(world, agent.address, hex(approve))
}

/** A permit of 5 USDC that was signed, and how its payee uses it. */
export async function signedPermit(
  world: TestWorld,
  agent: Agent,
  scheme: 'exact' | 'upto',
  over: Partial<AuthorizeRequest> = {},
) {
  const facilitator = newKey().at
  const payee = newKey().at
  const requirement = { extra: { facilitatorAddress: facilitator } }
  const terms = { transfer_method: 'permit2', scheme, requirement }
  const seenBlock = Number(await node(world, 'eth_blockNumber'))
  const entered = await authorizing(world, agent, payee, terms)
  const request = { ...entered, seenBlock, ...over }
  const answer = await world.world.custody?.authorize(request)
  if (answer?.outcome !== 'signed' || !answer.authorization) throw new Error('not signed')
  const form: Permit2Form = scheme === 'upto' ? { scheme, facilitator } : { scheme }
  const signed = permit2Payload(answer.authorization, form, world.chain.usdc)
  const { target, data } = settleStep(permitPayload.parse(signed), 5_000_000n)
  const use = () => sendAs(world, facilitator, hex(data), hex(target))
  return { id: request.paymentId, payee, use }
}

const snapshotCall = z.tuple([z.object({ data: hexSchema }), z.string()])

/** Every nonce of Permit2 is spent as of that block, whichever state is asked for. */
export function spentSince(block: number): Lie {
  const selector = toFunctionSelector('nonceBitmap(address,uint256)')
  return saying('eth_call', (read, params) => {
    const call = snapshotCall.safeParse(params)
    const answer = hexSchema.safeParse(read)
    if (!call.success || !answer.success) return read
    const [{ data }, tag] = call.data
    const isSpent = !tag.startsWith('0x') || Number(tag) >= block
    const word = numberToHex(isSpent ? 2n ** 256n - 1n : 0n, { size: 32 })
    const asking = decodeFunctionData({ abi: multicallAbi, data })
    const inner = asking.functionName === 'aggregate3' ? asking.args[0] : []
    const [abi, functionName] = [multicallAbi, 'aggregate3'] as const
    const results = decodeFunctionResult({ abi, functionName, data: answer.data })
    const result = results.map((one, at) =>
      inner[at]?.callData.startsWith(selector) ? { success: true, returnData: word } : one,
    )
    return encodeFunctionResult({ abi, functionName, result })
  })
}

const filter = z.tuple([z.object({ fromBlock: z.string(), toBlock: z.string() })])
const blockSchema = z.object({ hash: wordSchema, number: z.string() })
type Moved = { from: string; to: string; atomic: bigint }

/** Where the logs of that block alone are asked for, they tell a transfer that never was. */
export async function movedIn(world: TestWorld, block: number, moved: Moved): Promise<Lie> {
  const told = await node(world, 'eth_getBlockByNumber', numberToHex(block), false)
  const { hash: blockHash, number: blockNumber } = blockSchema.parse(told)
  const word = (address: string) => `0x${address.slice(2).toLowerCase().padStart(64, '0')}`
  const log = {
    address: world.chain.usdc,
    topics: [transferTopic, word(moved.from), word(moved.to)],
    data: numberToHex(moved.atomic, { size: 32 }),
    logIndex: '0x0',
    transactionHash: `0x${'d'.repeat(64)}`,
    blockNumber,
    blockHash,
  }
  return saying('eth_getLogs', (read, params) => {
    const asked = filter.safeParse(params)
    const [range] = asked.data ?? []
    const isThat = Number(range?.fromBlock) === block && Number(range?.toBlock) === block
    return isThat ? [log] : read
  })
}

/** Where a payment stands in the books. */
export async function bookedOf({ db }: TestWorld, id: string) {
  const [row] = await db.sql<{ state: string; finality: string | null }[]>`
    select state, finality from private.payments where id = ${id}`
  return row
}
