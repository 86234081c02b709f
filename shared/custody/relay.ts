/**
 * Signs for relayers what is authorized already: the next transaction of a queue, or a replacement
 * of one that is not mined, in the same place with the same calls. Nothing here can authorize a
 * payment or change one.
 */
import * as z from 'zod'
import { maxFeePerGasCeiling } from '../chains/evm/fees.ts'
import { hexSchema } from '../chains/hex.ts'
import { unbound } from '../db/database.ts'
import type { Roots } from '../sealing/roots.ts'
import type { World } from '../world.ts'
import { callOf, callRow, claimRow, feesAsked, lanesSeen, signClaim, weiOf } from './claim.ts'
import { confirmDirectTransfer, signDirectTransfer } from './direct-transfer.ts'
import { readEnvelope, withKey } from './envelope.ts'
import type {
  RelayAnswer,
  RelayFees,
  RelayRequest,
  ReplaceRequest,
  SignedTransaction,
} from './port.ts'
import { signRelay } from './relay-transaction.ts'

const relayRequest = z.strictObject({ ...feesAsked.shape, chainId: z.int(), lanes: lanesSeen })
const replaceRequest = z.strictObject({ ...feesAsked.shape, slot: z.int() })

const sentRow = z.object({ sent: z.boolean(), queued: z.boolean() })

/** Takes what is queued, if a lane is free for it, and stores the transaction around it. */
export async function relayQueued(
  world: World,
  roots: Roots,
  request: RelayRequest,
): Promise<RelayAnswer> {
  const { chainId: chain, lanes, ...fees } = relayRequest.parse(request)
  const ledger = unbound(world.db)
  const claimed = await ledger.one('custody_claim', { chain, lanes }, z.object({ claim: claimRow }))
  if (!claimed) return { queued: false }
  const { transaction, stored } = await signClaim(roots, claimed.claim, fees)
  const kept = await ledger.one('custody_record_claim', { chain, ...stored }, sentRow)
  return { ...(kept?.sent ? { transaction } : {}), queued: kept?.queued ?? false }
}

const slotRow = z.object({
  chain: z.int(),
  lane: z.string(),
  kind: z.enum(['relayer', 'wallet']),
  nonce: z.int(),
  attempts: z.int(),
  max_fee_per_gas: z.string().nullable(),
  max_priority_fee_per_gas: z.string().nullable(),
  /** What was signed last, if anything. */
  raw: hexSchema.nullable(),
  calls: z.array(callRow),
  envelope: z.unknown(),
  account: z.uuid().nullable(),
})

/** As many transactions as a slot may get; each costs at least an eighth more than the last. */
const attemptsMax = 12

/** Signs a slot again, at the asked fees or an eighth above the last ones if that is more. */
export async function replaceSlot(
  world: World,
  roots: Roots,
  request: ReplaceRequest,
): Promise<SignedTransaction | undefined> {
  const { slot: id, ...asked } = replaceRequest.parse(request)
  const slot = await unbound(world.db).one('custody_load_slot', { slot: id }, slotRow)
  if (!slot || slot.attempts >= attemptsMax) return undefined
  const fees = raised(asked, slot)
  if (BigInt(fees.maxFeePerGas) > maxFeePerGasCeiling) return undefined
  const transaction = await signSlot(roots, slot, fees)
  const kept = await world.db.call('custody_record_replacement', {
    slot: id,
    attempt: slot.attempts + 1,
    tx_hash: transaction.hash,
    raw: transaction.raw,
    max_fee_per_gas: fees.maxFeePerGas,
    max_priority_fee_per_gas: fees.maxPriorityFeePerGas,
  })
  return kept === true ? transaction : undefined
}

type Slot = z.output<typeof slotRow>

/** Nodes take a replacement that is a tenth dearer in both fees (geth's price bump); this is more. */
function raised(asked: RelayFees, slot: Slot): RelayFees {
  const raise = (wanted: string, last: string | null) => {
    const least = last === null ? 0n : (BigInt(last) * 9n) / 8n + 1n
    return (BigInt(wanted) > least ? BigInt(wanted) : least).toString()
  }
  return {
    maxFeePerGas: raise(asked.maxFeePerGas, slot.max_fee_per_gas),
    maxPriorityFeePerGas: raise(asked.maxPriorityFeePerGas, slot.max_priority_fee_per_gas),
  }
}

function signSlot(roots: Roots, slot: Slot, fees: RelayFees): Promise<SignedTransaction> {
  const { chain: chainId, lane, nonce, calls } = slot
  const place = { chainId, nonce, ...weiOf(fees) }
  const account = slot.kind === 'relayer' ? 'relayer' : slot.account
  if (account === null) throw new Error('the lane is nobody’s wallet')
  const binding = { account, address: lane }
  return withKey(roots, binding, readEnvelope(slot.envelope), async (key) => {
    const [own] = calls
    if (slot.kind === 'relayer' || !own) {
      return signRelay(key, { ...place, lane, calls: calls.map(callOf) })
    }
    const { token, to, value } = own
    const transfer = { chainId, nonce, token, to, valueAtomic: BigInt(value) }
    await confirmDirectTransfer(key, { ...transfer, ...feesOf(slot) }, slot.raw ?? '')
    return signDirectTransfer(key, { ...transfer, ...weiOf(fees) })
  })
}

/** Nobody's word is asked again for a replacement, so it has to be of what this key signed before. */
function feesOf(slot: Slot) {
  const { max_fee_per_gas: maxFeePerGas, max_priority_fee_per_gas: maxPriorityFeePerGas } = slot
  if (maxFeePerGas === null || maxPriorityFeePerGas === null) {
    throw new Error('a transfer of a wallet was never signed')
  }
  return weiOf({ maxFeePerGas, maxPriorityFeePerGas })
}
