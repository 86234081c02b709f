/** What agents asked for, as the book has it. */
import type { Act, Asked, AskedMandate, Book } from './acts.ts'
import { actsOf, before } from './acts.ts'

export function paymentAsked(book: Book, id: string): Asked {
  const found = actsOf(book, 'ask').find(({ payment }) => payment.id === id)
  if (!found) throw new Error(`nobody asked for the payment ${id}`)
  return found.payment
}

/** Who asks for a payment now: the one that asked last, until the owner has decided. */
export function askerOf(book: Book, id: string): { key: string; device: string } {
  const last = actsOf(book, 'take over').findLast(({ payment }) => payment === id)
  return last ?? paymentAsked(book, id)
}

/** Who asked for a payment when the owner approved it. */
export function askerAt(book: Book, act: Act & { payment: string }) {
  return askerOf(before(book, act), act.payment)
}

export function mandateAsked(book: Book, id: string): AskedMandate {
  const found = actsOf(book, 'ask mandate').find(({ mandate }) => mandate.id === id)
  if (!found) throw new Error(`nobody asked for the mandate ${id}`)
  return found.mandate
}
