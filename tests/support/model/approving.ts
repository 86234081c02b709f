/** Owners' decisions about waiting payments, at the ledger and at its twin. */
import { batchTerms } from '../../../shared/consent/batch.ts'
import { paymentTerms, termsDigest } from '../../../shared/consent/terms.ts'
import { paymentRow } from '../../../shared/payments/payment.ts'
import type { Word } from './consents.ts'
import { approveBatch, askerOf, decide, declineAll, waitingOf } from './consents.ts'
import type { Dice } from './dice.ts'
import type { House, Operation } from './house.ts'
import { agree, ask, pickPayment } from './house.ts'
import type { Account, Assertion, Payment, Ticks, Twin } from './state.ts'
import { refusable } from './state.ts'
import { paymentWire } from './wire.ts'

export const otherDigest = '0'.repeat(64)

/** Draws a passkey assertion, at times of another account, with a wrong counter, or none. */
export function drawAssertion({ twin }: House, dice: Dice, account: Account): Assertion | null {
  const owner = dice.isLucky(97) ? account : dice.anyOf(twin.accounts)
  const passkey = dice.anyOf(owner?.passkeys ?? [])
  if (!passkey || dice.isLucky(8)) return null
  const seen = dice.isLucky(96) ? passkey.counter : passkey.counter + 1
  const data = `data_${dice.below(1e9)}`
  return {
    passkey: passkey.id,
    counter_seen: String(seen),
    counter_now: String(seen + 1),
    client_data: data,
    authenticator_data: data,
    signature: data,
  }
}

const noTicks: Ticks = { anyKey: false, payee: false, device: false }

const shownTerms = (twin: Twin, payment: Payment, ticks = payment.ticks) =>
  termsDigest(paymentTerms(paymentRow.parse(paymentWire(twin, { ...payment, ticks }))))

const drawTicks = (dice: Dice): Ticks => ({
  anyKey: dice.isLucky(30),
  payee: dice.isLucky(30),
  device: dice.isLucky(30),
})

function drawAsker(dice: Dice, payment: Payment): string | null {
  if (dice.isLucky(40)) return null
  return dice.isLucky(92) ? askerOf(payment) : otherDigest
}

async function decideOne(house: House, dice: Dice): Promise<void> {
  const waiting = house.twin.payments.filter(({ state }) => state === 'awaiting_confirmation')
  const payment = dice.isLucky(80) ? dice.anyOf(waiting.slice(-5)) : pickPayment(house, dice)
  const account = dice.isLucky(95) ? payment?.account : dice.anyOf(house.twin.accounts)
  if (!payment || !account) return
  const isApproval = dice.isLucky(75)
  const ticks = isApproval ? drawTicks(dice) : noTicks
  const shown = await shownTerms(house.twin, payment, isApproval ? ticks : payment.ticks)
  const word: Word = {
    id: payment.id,
    decision: isApproval ? 'approved' : 'declined',
    digest: dice.isLucky(95) ? shown : otherDigest,
    asker: drawAsker(dice, payment),
    assertion: drawAssertion(house, dice, account),
    ticks,
  }
  const { id, ticks: _, ...said } = word
  const ticked = {
    any_key: ticks.anyKey,
    remember_payee: ticks.payee,
    remember_device: ticks.device,
  }
  const question = { credential: account.session, payment: id, ...said, ...ticked }
  const answer = await ask(house, 'owner_decide_payment', question)
  const outcome = refusable(() => [{ outcome: decide(house.twin, account, word, shown) }])
  agree('owner_decide_payment', answer, outcome)
}

/** Draws waiting payments, and at times one that does not wait or a duplicate. */
function drawSeveral(house: House, dice: Dice, account: Account): Payment[] {
  const waiting = waitingOf(house.twin, account)
  const unsaid = waiting.filter((one) => !one.approval || dice.isLucky(20))
  const stray = dice.isLucky(15) ? pickPayment(house, dice) : undefined
  const chosen = [...new Set([...unsaid.slice(-2 - dice.below(3)), ...(stray ? [stray] : [])])]
  return dice.isLucky(5) ? [...chosen, ...chosen.slice(0, 1)] : chosen
}

async function decideSeveral(house: House, dice: Dice): Promise<void> {
  const { twin } = house
  const account = dice.anyOf(twin.accounts)
  if (!account) return
  const payments = await Promise.all(
    drawSeveral(house, dice, account).map(async (payment) => {
      const { id } = payment
      const asker = dice.isLucky(90) ? askerOf(payment) : drawAsker(dice, payment)
      return { id, asker, shown: await shownTerms(twin, payment) }
    }),
  )
  const leaves = payments.map((one) => one.shown)
  const isAny = leaves.length > 0
  const shown = isAny ? await termsDigest(await batchTerms(account.id, leaves)) : otherDigest
  const digest = dice.isLucky(95) ? shown : otherDigest
  const assertion = drawAssertion(house, dice, account)
  const answer = await ask(house, 'owner_approve_batch', {
    credential: account.session,
    payments: payments.map(({ id }) => id),
    askers: payments.map(({ asker }) => asker),
    digest,
    assertion,
  })
  const word = { payments, digest, assertion }
  const outcome = refusable(() => [{ outcome: approveBatch(twin, account, word, shown) }])
  agree('owner_approve_batch', answer, outcome)
}

async function declineEvery(house: House, dice: Dice): Promise<void> {
  const { twin } = house
  const account = dice.isLucky(30) ? dice.anyOf(twin.accounts) : undefined
  if (!account) return
  const shown = waitingOf(twin, account).map(
    async (one) => [one, await shownTerms(twin, one)] as const,
  )
  const digests = new Map(await Promise.all(shown))
  const answer = await ask(house, 'owner_decline_all', { credential: account.session })
  agree('owner_decline_all', answer, [{ declined: declineAll(twin, account, digests) }])
}

export const approvingOperations: readonly Operation[] = [
  { name: 'decide', weight: 5, run: decideOne },
  { name: 'decide several', weight: 3, run: decideSeveral },
  { name: 'decline all', weight: 1, run: declineEvery },
]
