/** A lane that is held for a transaction, as the ledger tells it and as its twin has it. */
import * as z from 'zod'
import { countOf } from './chain.ts'
import type { Dice } from './dice.ts'
import type { House } from './house.ts'
import type { Claim } from './relay.ts'
import type { Call, Payment } from './state.ts'

const claimRow = z.object({ lease: z.string(), lane: z.string(), nonce: z.number() })

/** The ids that only the ledger could choose. */
export function claimFrom(told: unknown): Claim | undefined {
  const read = claimRow.safeParse(told)
  return read.success ? { ...read.data, calls: [] } : undefined
}

export function claimWire({ twin }: House, { calls, ...claim }: Claim) {
  const isRelayer = twin.lanes.some(
    ({ address, kind }) => address === claim.lane && kind === 'relayer',
  )
  const envelope = isRelayer ? {} : null
  return { ...claim, chain: twin.chain, calls: calls.map(callWire), envelope }
}

/** As private.call_json. */
export function callWire({ payment }: Call) {
  return {
    kind: 'transfer',
    token: payment.token,
    from: payment.account.wallet,
    to: payment.payee,
    value: payment.atomic.toString(),
    valid_after: 0,
    valid_before: payment.validBefore,
    nonce: payment.nonce,
    signature: payment.signature,
  }
}

/** The latest transaction that carries a payment. */
export function transactionWire({ twin }: House, payment: Payment) {
  const call = twin.calls.find((one) => one.payment === payment)
  const hash = call?.slot?.attempts.at(-1)?.hash
  return hash === undefined ? null : { tx_hash: hash, raw: hash }
}

/** The lanes that a request looked at: usually all, sometimes one is missing or seen too early. */
export function lanesSeen({ twin, chain }: House, dice: Dice) {
  return twin.lanes
    .filter(({ kind }) => kind === 'relayer' && dice.isLucky(93))
    .map(({ address }) => ({
      address,
      mined_nonce: dice.isLucky(93) ? countOf(chain, address) : 0,
    }))
}
