/** The twin of the gas budget: what relayers spend for an account, added up again each time. */
import { daySeconds, isCounted } from './limits.ts'
import { timeText } from './mandate-wire.ts'
import type {
  Account,
  Attempt,
  Call,
  GasTerms,
  GasUse,
  Lane,
  Payment,
  Slot,
  Twin,
} from './state.ts'
import { isLive, liveUntil } from './state.ts'

/** Gas terms that are plentiful, and terms at the edge. */
export const plentyOfGas: GasTerms = {
  wei: 10n ** 24n,
  calls: 10 ** 6,
  leastUsd: 0n,
  cancels: 10 ** 6,
}
export const littleGas: GasTerms = { wei: 600n, calls: 16, leastUsd: 2_000_000n, cancels: 10 }

const most = (one: bigint, other: bigint) => (one > other ? one : other)
const earliest = (times: readonly number[]) => (times.length === 0 ? null : Math.min(...times))

/** True for gas that is reserved for a cancellation. */
const isKept = ({ kind, slot }: GasUse) => kind === 'cancel' && slot === null

/** Follows private.gas_spent. */
function isSpent({ now }: Twin, { slot, payment, at }: GasUse, account: Account): boolean {
  if (slot === null || slot.state === 'lost' || payment.account !== account) return false
  return at > now - daySeconds || slot.state === 'open'
}

function doesCount(twin: Twin, use: GasUse): boolean {
  const { state, account } = use.payment
  if (use.slot !== null) return isSpent(twin, use, account)
  const isOpen = state === 'signed' || (state === 'authorized' && isCounted(twin, use.payment))
  const mayGo = isOpen || (isKept(use) && state === 'unknown')
  return use.at > twin.now - daySeconds && mayGo
}

function gasLeft(twin: Twin, account: Account) {
  const { wei, calls, cancels } = twin.gasTerms
  const used = twin.gas.filter((use) => use.payment.account === account && doesCount(twin, use))
  const called = used.filter((use) => !isKept(use))
  const canceled = called.filter(({ kind }) => kind === 'cancel')
  const open = twin.payments.filter(
    (one) => one.account === account && isLive(one) && liveUntil(one) > twin.now,
  )
  const spent = used.reduce((sum, one) => sum + one.wei, 0n)
  const frees = [...canceled.map(({ at }) => at + daySeconds), ...open.map(liveUntil)]
  return {
    wei: most(wei - spent, 0n),
    calls: Math.max(calls - called.length, 0),
    freesAt: earliest(
      (called.length < calls ? used : called).map((use) =>
        isKept(use) ? liveUntil(use.payment) : use.at + daySeconds,
      ),
    ),
    cancels: Math.max(Math.min(cancels - canceled.length, 1_000) - open.length, 0),
    cancelsFreeAt: earliest(frees),
  }
}

/** Follows private.gas_json. */
export function gasWire(twin: Twin, account: Account) {
  const left = gasLeft(twin, account)
  return {
    left_wei: left.wei.toString(),
    left_calls: left.calls,
    resets_at: timeText(left.freesAt),
    least_usd_micros: twin.gasTerms.leastUsd.toString(),
    left_cancels: left.cancels,
    cancels_reset_at: timeText(left.cancelsFreeAt),
    cheaper_at: null,
    seen: null,
  }
}

/** Follows private.charge_json, for what is reserved for a call. */
export function chargesOf(twin: Twin, { payment, kind }: Call) {
  const kept = twin.gas.filter(
    (use) => use.payment === payment && use.kind === kind && use.slot === null,
  )
  return kept.map(({ wei }) => ({
    payment: payment.id,
    kind,
    account: payment.account.id,
    charged_wei: wei.toString(),
    left_wei: gasLeft(twin, payment.account).wei.toString(),
  }))
}

/** Decides whether the gas of a transfer is reserved, so that it may go into a transaction. */
export function hasGas(twin: Twin, payment: Payment): boolean {
  return twin.gas.some(
    ({ kind, ...use }) => kind === 'transfer' && use.payment === payment && use.slot === null,
  )
}

/** Reserves the gas of a payment about to be signed. Returns false if its account has too little. */
export function reserveGas(
  twin: Twin,
  payment: Payment,
  { gasFrom, costWei }: { gasFrom: 'relayer' | 'wallet' | null; costWei: bigint },
): boolean {
  const left = gasLeft(twin, payment.account)
  if (left.cancels < 1 && payment.state !== 'authorized') return false
  const isTransfer = payment.kind === 'transfer'
  if (isTransfer && gasFrom !== 'relayer') return true
  const kept = twin.gas.filter((use) => use.payment === payment && use.slot === null)
  const kinds = isTransfer ? (['cancel', 'transfer'] as const) : (['cancel'] as const)
  const keptWei = kept.reduce((sum, { wei }) => sum + wei, 0n)
  if (left.wei + keptWei < costWei * BigInt(kinds.length)) return false
  const isLarge = payment.usd >= twin.gasTerms.leastUsd
  if (isTransfer && kept.length === 0 && (!isLarge || left.calls < 1)) return false
  for (const use of kept) Object.assign(use, { wei: most(use.wei, costWei), at: twin.now })
  const fresh = kinds.filter((kind) => !kept.some((use) => use.kind === kind))
  for (const kind of fresh) twin.gas.push({ payment, kind, wei: costWei, slot: null, at: twin.now })
  return true
}

const cancellationOf = (twin: Twin, payment: Payment) =>
  twin.calls.find((call) => call.payment === payment && call.kind === 'cancel')

/**
 * Decides whether a cancellation may be queued. A payment reopened by a reorganization needs room in
 * addition to all others.
 */
export function hasCancelRoom(twin: Twin, payment: Payment): boolean {
  if (!payment.isReopened || cancellationOf(twin, payment)) return true
  const own = twin.gas.find((use) => use.payment === payment && isKept(use))
  return hasRoomBeside(twin, payment, own?.wei ?? 0n)
}

/** Decides whether there is room for one more cancellation at this price. */
function hasRoomBeside(twin: Twin, payment: Payment, price: bigint): boolean {
  const others = twin.payments.filter((one) => {
    const call = cancellationOf(twin, one)
    const isMeant = call ? call.slot === null : isLive(one) && !one.isReopened
    return one !== payment && one.account === payment.account && isMeant && isCounted(twin, one)
  })
  const spent = twin.gas.filter((use) => isSpent(twin, use, payment.account))
  const kept = twin.gas.filter((use) => use.slot === null && others.includes(use.payment))
  const cancels = others.length + spent.filter(({ kind }) => kind === 'cancel').length
  const wei = [...spent, ...kept].reduce((sum, one) => sum + one.wei, price)
  return cancels < twin.gasTerms.cancels && wei <= twin.gasTerms.wei
}

/** Charges the calls of a relayer's slot whose first transaction is stored. */
export function spendGas(twin: Twin, slot: Slot, calls: readonly Call[], cost: bigint): void {
  if (slot.lane.kind !== 'relayer') return
  for (const { kind, payment } of calls) {
    const kept = twin.gas.find(
      (use) => use.payment === payment && use.kind === kind && use.slot === null,
    )
    if (kept) kept.slot = slot
    else if (kind === 'cancel') twin.gas.push({ payment, kind, wei: 1n, slot, at: twin.now })
  }
  raiseGas(twin, slot, { cost, carries: [], cancels: [] })
}

type Dearer = Pick<Attempt, 'cost' | 'carries' | 'cancels'>

const isBare = ({ carries, cancels }: Dearer) => carries.length + cancels.length === 0

/** Returns the charge of each call in a transaction; of one without any, of all calls ever in its slot. */
function partsOf(twin: Twin, slot: Slot, dearer: Dearer) {
  const { cost, carries, cancels } = dearer
  const uses = twin.gas.filter(({ slot: place, kind, payment }) => {
    const isIn = isBare(dearer) || (kind === 'cancel' ? cancels : carries).includes(payment)
    return place === slot && isIn
  })
  const count = BigInt(uses.length)
  return uses.map((use) => {
    const part = (cost + count - 1n) / count
    return { use, wei: most(use.wei, use.kind === 'cancel' ? part / 2n : part) }
  })
}

/** Raises the charges of a slot's calls to the cost of its dearest transaction. */
export function raiseGas(twin: Twin, slot: Slot, dearer: Dearer): void {
  for (const { use, wei } of partsOf(twin, slot, dearer)) Object.assign(use, { wei, at: twin.now })
}

/** Decides whether the accounts of the calls in a dearer transaction have gas left for it. */
export function hasGasFor(twin: Twin, slot: Slot, dearer: Dearer): boolean {
  const parts = partsOf(twin, slot, dearer)
  if (isBare(dearer)) return true
  return parts.every(({ use: { payment } }) => {
    const own = parts.filter(({ use }) => use.payment.account === payment.account)
    const raise = own.reduce((sum, { use, wei }) => sum + wei - use.wei, 0n)
    return raise <= gasLeft(twin, payment.account).wei
  })
}

/** Returns a call to the queue if there is gas for another transaction. */
export function requeueCall(twin: Twin, call: Call): void {
  const { payment, kind } = call
  const last = twin.gas.findLast(
    (use) => use.slot === call.slot && use.payment === payment && use.kind === kind,
  )
  if (!last) return
  const left = gasLeft(twin, payment.account)
  const isAffordable = left.calls >= 1 && left.wei >= last.wei
  if (kind === 'transfer' ? !isAffordable : !hasRoomBeside(twin, payment, last.wei)) return
  twin.gas.push({ payment, kind, wei: last.wei, slot: null, at: twin.now })
  call.slot = null
}

const placesMax = 16

/** Follows private.open_wei: the highest costs of a lane's newest transactions, newest first. */
export function openWei(twin: Twin, lane: Lane): string[] {
  return twin.slots
    .filter((slot) => slot.lane === lane && slot.nonce >= lane.next - placesMax)
    .sort((one, other) => other.nonce - one.nonce)
    .slice(0, placesMax)
    .map(({ attempts }) => attempts.reduce((sum, { cost }) => most(sum, cost), 0n).toString())
}
