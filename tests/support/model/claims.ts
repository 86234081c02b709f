/** A lane that is leased for a transaction, as the ledger returns it and as the twin has it. */
import * as z from 'zod'
import { countOf } from './chain.ts'
import type { Dice } from './dice.ts'
import { chargesOf } from './gas.ts'
import type { House } from './house.ts'
import type { Claim } from './relay.ts'
import { isStopped } from './relay.ts'
import type { Call, Payment, Twin } from './state.ts'

const claimRow = z.object({ lease: z.string(), lane: z.string(), nonce: z.number() })

/** Reads the ids that only the ledger could choose. */
export function claimFrom(told: unknown): Claim | undefined {
  const read = claimRow.safeParse(told)
  return read.success ? { ...read.data, calls: [] } : undefined
}

export function claimWire({ twin }: House, { calls, ...claim }: Claim) {
  const owner = ownerOf(twin, claim.lane)
  const charges = calls.flatMap((call) => chargesOf(twin, call))
  return { ...claim, chain: twin.chain, calls: calls.map(callWire), charges, envelope: {}, owner }
}

/** Returns whose key signs for a lane: an account, or 'relayer'. */
export function ownerOf({ accounts }: Twin, lane: string): string {
  return accounts.find(({ wallet }) => wallet === lane)?.id ?? 'relayer'
}

/** Returns the JSON of a call, as private.call_json does. */
export function callWire({ kind, payment, signature }: Call) {
  return {
    kind,
    payment: payment.id,
    token: payment.token,
    from: payment.account.wallet,
    to: payment.payee,
    value: payment.atomic.toString(),
    valid_after: 0,
    valid_before: payment.validBefore,
    nonce: payment.nonce,
    signature,
    carrier: null,
  }
}

/** Returns the latest transaction in the slot of a payment, unless it must not be sent. */
export function transactionWire({ twin }: House, payment: Payment) {
  const call = twin.calls.find((one) => one.payment === payment && one.kind === 'transfer')
  const latest = call?.slot?.attempts.at(-1)
  return !latest || isStopped(latest) ? null : { tx_hash: latest.hash, raw: latest.hash }
}

/** Draws the lanes that a request has read: usually all, sometimes one is missing or outdated. */
export function lanesSeen({ twin, chain }: House, dice: Dice) {
  return twin.lanes
    .filter(({ kind }) => kind === 'relayer' && dice.isLucky(93))
    .map(({ address }) => ({
      address,
      mined_nonce: dice.isLucky(93) ? countOf(chain, address) : 0,
      transfers: dice.isLucky(85) ? 25 : dice.below(3),
      cancels: dice.isLucky(93) ? 25 : dice.below(3),
    }))
}
