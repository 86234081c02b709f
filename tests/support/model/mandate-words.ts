/** Owners' decisions about mandates. */
import { drawAssertion, otherDigest } from './approving.ts'
import type { Dice } from './dice.ts'
import type { House, Operation } from './house.ts'
import { agree, ask, pickMandate, rowOf } from './house.ts'
import { fieldsOf, rowsOf, without } from './ledger.ts'
import { isDeviceKnown } from './limits.ts'
import { consentWire, mandateWire, timeText } from './mandate-wire.ts'
import type { MandateWord } from './mandates.ts'
import { decideMandate, narrowMandate, revokeMandate, suspendMandate } from './mandates.ts'
import { capsArgs, digestOfMandate, mandatesFrom } from './mandating.ts'
import type { Account, Caps, Mandate } from './state.ts'
import { refusable } from './state.ts'

/** Picks mostly a mandate in this state, and mostly its own owner. */
function pick(house: House, dice: Dice, state: Mandate['state']) {
  const { mandates, accounts } = house.twin
  const fitting = mandates.filter((one) => one.state === state).slice(-4)
  const mandate = dice.isLucky(85) ? dice.anyOf(fitting) : pickMandate(house, dice)
  const account = dice.isLucky(96) ? mandate?.account : dice.anyOf(accounts)
  return mandate && account ? { mandate, account } : undefined
}

async function decideOne(house: House, dice: Dice): Promise<void> {
  const { mandate, account } = pick(house, dice, 'pending_approval') ?? {}
  if (!mandate || !account) return
  const isForAnyKey = dice.isLucky(30)
  const isApproval = dice.isLucky(85)
  const shown = await digestOfMandate(isApproval ? { ...mandate, isForAnyKey } : mandate)
  const word: MandateWord = {
    id: mandate.id,
    decision: isApproval ? 'approved' : 'declined',
    digest: dice.isLucky(95) ? shown : otherDigest,
    assertion: drawAssertion(house, dice, account),
    isForAnyKey,
  }
  const { id, isForAnyKey: any_key, ...said } = word
  const question = { credential: account.session, mandate: id, ...said, any_key }
  const answer = await ask(house, 'owner_decide_mandate', question)
  const outcome = refusable(() => [{ outcome: decideMandate(house.twin, account, word, shown) }])
  agree('owner_decide_mandate', answer, outcome)
}

/** Draws caps that are mostly lower, at times equal or higher. */
function drawNarrower(dice: Dice, { payment, day, total, payments }: Caps): Caps {
  const lower = (cap: bigint) => dice.oneOf([cap, cap / 2n, cap / 2n, cap + 1n, 0n])
  const narrow = (cap: bigint | null) => {
    if (dice.isLucky(10)) return cap === null ? 60_000_000n : null
    return cap === null || dice.isLucky(50) ? cap : lower(cap)
  }
  return {
    payment: dice.isLucky(50) ? payment : lower(payment),
    day: narrow(day),
    total: narrow(total),
    payments: payments === null ? dice.oneOf([null, 4]) : payments - dice.oneOf([0, 1, -1]),
  }
}

async function narrowOne(house: House, dice: Dice): Promise<void> {
  const { mandate, account } = pick(house, dice, 'pending_approval') ?? {}
  if (!mandate || !account) return
  const wanted = {
    caps: drawNarrower(dice, mandate.caps),
    subdomains: dice.isLucky(70) ? mandate.subdomains : dice.isLucky(50),
    expiresAt: mandate.expiresAt - dice.oneOf([0, 0, 30, -1]),
  }
  const answer = await ask(house, 'owner_narrow_mandate', {
    credential: account.session,
    mandate: mandate.id,
    ...capsArgs(wanted.caps),
    include_subdomains: wanted.subdomains,
    expires_at: timeText(wanted.expiresAt),
  })
  const outcome = narrowMandate(house.twin, account, mandate.id, wanted)
  agree('owner_narrow_mandate', answer, [{ outcome }])
}

async function suspendOne(house: House, dice: Dice): Promise<void> {
  const suspended = dice.isLucky(40)
  const { mandate, account } = pick(house, dice, suspended ? 'active' : 'suspended') ?? {}
  if (!mandate || !account) return
  const question = { credential: account.session, mandate: mandate.id, suspended }
  const answer = await ask(house, 'owner_suspend_mandate', question)
  const outcome = refusable(() => {
    return [{ outcome: suspendMandate(house.twin, account, mandate.id, suspended) }]
  })
  agree('owner_suspend_mandate', answer, outcome)
}

async function revokeOne(house: House, dice: Dice): Promise<void> {
  const { mandate, account } = pick(house, dice, 'active') ?? {}
  if (!mandate || !account || dice.isLucky(60)) return
  const question = { credential: account.session, mandate: mandate.id }
  const answer = await ask(house, 'owner_revoke_mandate', question)
  const revoked = revokeMandate(house.twin, account, mandate.id, 'owner')
  const wanted = revoked ? [{ mandate_row: mandateWire(house.twin, revoked) }] : []
  agree('owner_revoke_mandate', mandatesFrom(answer), wanted)
}

async function readOne(house: House, dice: Dice): Promise<void> {
  const { mandate, account } = pick(house, dice, 'pending_approval') ?? {}
  if (!mandate || !account) return
  const question = { credential: account.session, mandate: mandate.id }
  const answer = await ask(house, 'owner_read_mandate', question)
  if (account !== mandate.account) return agree('owner_read_mandate', answer, [])
  const row = rowOf(answer) ?? {}
  const told = {
    mandate_row: without('number', row['mandate_row']),
    digest: row['digest'],
    consent: without('id', row['consent']),
    known: fieldsOf(row['asked'])['device_known'],
    past: pastOf(rowsOf(row['past'])),
    cap: row['daily_spending_cap_usd_micros'],
    passkeys: rowsOf(row['passkeys'])
      .map(({ id }) => String(id))
      .sort(),
  }
  agree('owner_read_mandate', told, {
    mandate_row: mandateWire(house.twin, mandate),
    digest: await digestOfMandate(mandate),
    consent: consentWire(mandate.consent),
    known: isDeviceKnown(mandate),
    past: mandate.state === 'pending_approval' ? pastOf(rehearsed(house, account)) : [],
    cap: account.limits.cap.toString(),
    passkeys: account.passkeys.map(({ id }) => id).sort(),
  })
}

/** Returns the history in a fixed order, because several entries may have the same second. */
const pastOf = (past: { at?: unknown; state?: unknown; payee?: unknown }[]) =>
  past.map(({ at, state, payee }) => `${String(at)} ${String(state)} ${String(payee)}`).toSorted()

const ninetyDaysSeconds = 90 * 86_400

/** Returns the payments on which a mandate is backtested. */
function rehearsed({ twin }: House, account: Account) {
  return twin.payments
    .filter((one) => one.account === account && one.createdAt > twin.now - ninetyDaysSeconds)
    .map(({ authorizedAt, createdAt, state, payee }) => {
      return { at: timeText(authorizedAt ?? createdAt), state, payee }
    })
}

export const mandateWordOperations: readonly Operation[] = [
  { name: 'decide mandate', weight: 8, run: decideOne },
  { name: 'narrow mandate', weight: 2, run: narrowOne },
  { name: 'suspend mandate', weight: 2, run: suspendOne },
  { name: 'owner revokes', weight: 1, run: revokeOne },
  { name: 'read mandate', weight: 1, run: readOne },
]
