/**
 * Invariants that hold at all times and at the end, checked against the real rows. The rows are also
 * compared with the twin's as a whole, so no answer has to show every change.
 */
import type { Transaction } from './chain.ts'
import { balanceOf, paymentsOf } from './chain.ts'
import type { House } from './house.ts'
import { agree, tokens } from './house.ts'
import { countsUntil } from './limits.ts'
import { isGivenUp } from './relay.ts'
import type { Payment, Twin } from './state.ts'
import { isLive } from './state.ts'
import { paymentWire } from './wire.ts'

/** Throws if a row differs from the twin's. */
export async function confirmRows(house: House): Promise<void> {
  const { twin, ledger } = house
  const [rows = {}] = await ledger.query(`select
    (select coalesce(jsonb_object_agg(p.id, private.payment_json(p)), '{}')
       from private.payments p) as payments,
    (select jsonb_agg(jsonb_build_array(l.address, l.next_nonce, l.mined_nonce, l.paused_for,
       l.lease) order by l.address) from private.relay_lanes l) as lanes,
    (select coalesce(jsonb_agg(jsonb_build_array(s.lane, s.nonce, s.state, s.block_hash,
       (select coalesce(jsonb_agg(jsonb_build_array(t.tx_hash, t.cost_wei::text,
            (select coalesce(jsonb_agg(p order by p), '[]') from unnest(t.carries) p))
          order by t.attempt), '[]') from private.relay_transactions t where t.slot = s.id))
       order by s.lane, s.nonce), '[]') from private.relay_slots s) as slots,
    (select coalesce(jsonb_agg(jsonb_build_array(c.kind, c.payment, c.signature, c.tries, c.claim,
       s.lane, s.nonce) order by c.id), '[]') from private.relay_calls c
       left join private.relay_slots s on s.id = c.slot) as calls`)
  const wanted = twin.payments.map((payment) => [payment.id, paymentWire(twin, payment)])
  agree('payments', rows['payments'], Object.fromEntries(wanted))
  agree('lanes', rows['lanes'], lanesWire(house))
  agree('slots', rows['slots'], slotsWire(house))
  const calls = twin.calls.map(({ kind, payment, signature, tries, claim, slot }) => {
    const place = [slot?.lane.address ?? null, slot?.nonce ?? null]
    return [kind, payment.id, signature, tries, claim, ...place]
  })
  agree('calls', rows['calls'], calls)
}

const inOrder = (texts: unknown[][]) =>
  texts.sort(([a, b], [c, d]) => (a === c ? Number(b) - Number(d) : String(a) < String(c) ? -1 : 1))

function lanesWire({ twin }: House) {
  return inOrder(
    twin.lanes.map(({ address, next, mined, pausedFor, lease }) => {
      return [address, next, mined, pausedFor, lease]
    }),
  )
}

function slotsWire({ twin }: House) {
  return inOrder(
    twin.slots.map(({ lane, nonce, state, block, attempts }) => {
      const signed = attempts.map(({ hash, cost, carries }) => {
        return [hash, cost.toString(), carries.map(({ id }) => id).sort()]
      })
      return [lane.address, nonce, state, block?.hash ?? null, signed]
    }),
  )
}

/**
 * Checks each authorization: everything that counted at that moment is within the limits of that moment.
 * Payments released since only make the sums smaller.
 */
export function confirmLimits({ twin }: House): void {
  const counted = twin.payments.filter((one) => isLive(one) || one.state === 'settled')
  confirmSums('cap', counted)
  confirmSums('automatic', atLevel(counted, 'none'))
  confirmSums('asserted', atLevel(counted, 'agent_asserted'))
  confirmCaps(counted)
}

/** Checks the amounts of each key against its caps at that moment, and each payment against its cap. */
function confirmCaps(counted: Payment[]): void {
  for (const { paidBy, authorizedAt, capsThen, usd } of counted) {
    const at = authorizedAt ?? 0
    const { payment = null, day = null } = capsThen ?? {}
    if (payment !== null && usd > payment) throw new Error(`${usd} passed a cap of ${payment}`)
    const moved = counted.filter((other) => other.paidBy === paidBy && didCount(other, at))
    const isLast = moved.every((other) => other.authorizedAt !== at || other.capsThen?.day === day)
    if (day !== null && isLast) confirmSum('key', moved, day)
  }
}

/** Decides whether a payment counted at a moment; it may have left the windows since. */
export function didCount(payment: Payment, at: number): boolean {
  const { authorizedAt, returnedAt } = payment
  const isSince = (returnedAt ?? authorizedAt ?? 0) <= at
  return isSince && (countsUntil(payment) ?? -Infinity) > at
}

const atLevel = (payments: Payment[], level: string) =>
  payments.filter((payment) => payment.level === level)

function confirmSums(limit: 'cap' | 'automatic' | 'asserted', counted: Payment[]): void {
  for (const { account, authorizedAt } of counted) {
    const at = authorizedAt ?? 0
    const before = counted.filter((other) => other.account === account && didCount(other, at))
    const own = counted.filter((other) => other.account === account)
    confirmSum(limit, before, limitAt(own, at, limit))
  }
}

/** Returns the highest value of a limit within that second. */
function limitAt(payments: Payment[], at: number, limit: 'cap' | 'automatic' | 'asserted'): bigint {
  return payments
    .filter(({ authorizedAt }) => authorizedAt === at)
    .map(({ limitsThen }) => limitsThen?.[limit] ?? 0n)
    .reduce((highest, one) => (one > highest ? one : highest), 0n)
}

function confirmSum(name: string, payments: Payment[], limit: bigint): void {
  const sum = payments.reduce((total, { usd }) => total + usd, 0n)
  if (sum > limit) throw new Error(`${sum} of ${limit} are used of the limit ${name}`)
}

/** Throws if a transaction carries a transfer that a freeze has stopped, which must not be sent. */
export function confirmStopped({ hash, payments }: Transaction): void {
  const stopped = payments.find(isGivenUp)
  if (stopped) throw new Error(`${hash} carries ${stopped.id}, which a freeze has stopped`)
}

/** Checks that nothing stopped by a freeze waits for a relayer or was stored in a transaction since. */
export async function confirmFreezes({ ledger }: House): Promise<void> {
  const rows = await ledger.query(`select p.id from private.payments p
    join private.accounts a on a.id = p.account and p.freezes < a.freezes
    where p.state = 'authorized' or exists (select from private.relay_transactions t
      where p.id = any (t.carries) and t.created_at > a.frozen_at)`)
  agree('kept after a freeze', rows, [])
}

/** Throws if a wallet has too little wei for everything in flight and one more. */
export function confirmFunded(
  { slots }: Twin,
  wallet: string,
  { walletWei, costWei }: { walletWei: bigint; costWei: bigint },
): void {
  const open = slots.filter(({ lane, state }) => lane.address === wallet && state === 'open')
  const inFlight = open.filter(({ lane, nonce }) => nonce >= lane.mined)
  const costs = inFlight.map(({ attempts }) => attempts.map(({ cost }) => Number(cost)))
  const sum = costs.reduce((total, each) => total + Math.max(0, ...each), Number(costWei))
  if (sum > Number(walletWei)) throw new Error(`${wallet} owes ${sum} wei of ${walletWei}`)
}

/** Checks that each debit of a wallet belongs to exactly one open or settled payment of the ledger. */
export function confirmDebits({ chain }: House): void {
  const paid = paymentsOf(chain).map(({ payment }) => payment)
  if (new Set(paid).size !== paid.length) throw new Error('a payment was paid twice')
  const forgotten = paid.find((payment) => !isLive(payment) && payment.state !== 'settled')
  if (forgotten) throw new Error(`${forgotten.id} was paid and is ${forgotten.state}`)
}

/** Checks the end: nothing is open, and each token's deposits are still held or were paid by a payment. */
export function confirmEnd(house: House): void {
  const { twin, chain } = house
  const open = twin.payments.filter(isLive)
  agree(
    'still open',
    open.map(({ id, state }) => ({ id, state })),
    [],
  )
  const paid = new Set(paymentsOf(chain).map(({ payment }) => payment))
  const unpaid = twin.payments.filter((one) => one.state === 'settled' && !paid.has(one))
  agree(
    'settled and not paid',
    unpaid.map(({ id }) => id),
    [],
  )
  for (const { wallet } of twin.accounts) {
    for (const token of tokens) confirmJournal(house, wallet, token)
  }
}

function confirmJournal({ twin, chain }: House, wallet: string, token: string): void {
  const sumOf = (amounts: { atomic: bigint }[]) =>
    amounts.reduce((sum, { atomic }) => sum + atomic, 0n)
  const deposits = chain.deposits.filter((one) => one.wallet === wallet && one.token === token)
  const settled = twin.payments.filter((one) => {
    return one.account.wallet === wallet && one.token === token && one.state === 'settled'
  })
  const rest = sumOf(deposits) - sumOf(settled) - balanceOf(chain, wallet, token)
  if (rest !== 0n) throw new Error(`the journal of ${wallet} is off by ${rest}`)
}
