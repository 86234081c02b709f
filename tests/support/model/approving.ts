/** What owners say about payments that wait for them. */
import { digestOf, paymentTerms } from '../../../shared/consent/terms.ts'
import { paymentRow } from '../../../shared/payments/payment.ts'
import type { Dice } from './dice.ts'
import type { House, Operation } from './house.ts'
import { agree, ask, pickPayment } from './house.ts'
import type { Word } from './payments.ts'
import { decide } from './payments.ts'
import { refusable } from './state.ts'
import { paymentWire } from './wire.ts'

const otherDigest = '0'.repeat(64)

async function decideOne(house: House, dice: Dice): Promise<void> {
  const waiting = house.twin.payments.filter(({ state }) => state === 'awaiting_confirmation')
  const payment = dice.isLucky(80) ? dice.anyOf(waiting.slice(-5)) : pickPayment(house, dice)
  const account = dice.isLucky(95) ? payment?.account : dice.anyOf(house.twin.accounts)
  if (!payment || !account) return
  const shown = await digestOf(paymentTerms(paymentRow.parse(paymentWire(house.twin, payment))))
  const word: Word = {
    id: payment.id,
    decision: dice.isLucky(75) ? 'approved' : 'declined',
    digest: dice.isLucky(95) ? shown : otherDigest,
  }
  const { id, ...said } = word
  const question = { credential: account.session, payment: id, ...said }
  const answer = await ask(house, 'owner_decide_payment', question)
  const outcome = refusable(() => [{ outcome: decide(house.twin, account, word, shown) }])
  agree('owner_decide_payment', answer, outcome)
}

export const approvingOperations: readonly Operation[] = [
  { name: 'decide', weight: 5, run: decideOne },
]
