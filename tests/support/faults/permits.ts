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
import type { Hex } from '../../../shared/chains/hex.ts'
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

const isSince = (tag: string, block: number) => !tag.startsWith('0x') || Number(tag) >= block
const wordsOf = (nonces: readonly bigint[]) =>
  nonces.map((nonce) => numberToHex(nonce >> 8n, { size: 32 }).slice(2))

/** Shows every nonce of Permit2 as spent from that block on. */
export function spentSince(block: number): Lie {
  return sayingBitmap((_, tag) => isSince(tag, block))
}

/** Shows the words of these nonces as spent from that block on, and as unspent before. */
export function spent(nonces: readonly bigint[], block: number): Lie {
  const words = wordsOf(nonces)
  return sayingBitmap((call, tag) =>
    words.some((word) => call.endsWith(word)) ? isSince(tag, block) : undefined,
  )
}

/** Shows the words of these nonces as unspent, up to that block. */
export function unspent(nonces: readonly bigint[], until = Number.POSITIVE_INFINITY): Lie {
  const words = wordsOf(nonces)
  const isBefore = (tag: string) => !Number.isFinite(until) || Number(tag) < until
  return sayingBitmap((call, tag) => {
    return words.some((word) => call.endsWith(word)) && isBefore(tag) ? false : undefined
  })
}

/** Shows words of nonces as spent or unspent as a whole; undefined leaves what was read. */
function sayingBitmap(isSpent: (call: string, tag: string) => boolean | undefined): Lie {
  const selector = toFunctionSelector('nonceBitmap(address,uint256)')
  return saying('eth_call', (read, params) => {
    const call = snapshotCall.safeParse(params)
    const answer = hexSchema.safeParse(read)
    if (!call.success || !answer.success) return read
    const [{ data }, tag] = call.data
    const asking = decodeFunctionData({ abi: multicallAbi, data })
    const inner = asking.functionName === 'aggregate3' ? asking.args[0] : []
    const [abi, functionName] = [multicallAbi, 'aggregate3'] as const
    const results = decodeFunctionResult({ abi, functionName, data: answer.data })
    const result = results.map((one, at) => {
      const { callData = '0x' } = inner[at] ?? {}
      const said = callData.startsWith(selector) ? isSpent(callData, tag) : undefined
      const returnData = numberToHex(said ? 2n ** 256n - 1n : 0n, { size: 32 })
      return said === undefined ? one : { success: true, returnData }
    })
    return encodeFunctionResult({ abi, functionName, result })
  })
}

const filter = z.tuple([z.object({ fromBlock: z.string(), toBlock: z.string() })])
const blockSchema = z.object({ hash: wordSchema, number: z.string() })
type Moved = { from: string; to: string; atomic: bigint }

/** Adds a transfer that never happened to the answer when the logs of exactly that block are requested. */
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

/** Returns state and finality of a payment in the books. */
export async function bookedOf({ db }: TestWorld, id: string) {
  const [row] = await db.sql<{ state: string; finality: string | null }[]>`
    select state, finality from private.payments where id = ${id}`
  return row
}
