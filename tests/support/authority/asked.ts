/** Requests of agents, as the book records them. */
import type { Act, Asked, AskedMandate, Book } from './acts.ts'
import { actsOf, before } from './acts.ts'

export function paymentAsked(book: Book, id: string): Asked {
  const found = actsOf(book, 'ask').find(({ payment }) => payment.id === id)
  if (!found) throw new Error(`nobody asked for the payment ${id}`)
  return found.payment
}

/** Returns the key and device that a payment belongs to: those of the last request before the approval. */
export function askerOf(book: Book, id: string): { key: string; device: string } {
  const last = actsOf(book, 'take over').findLast(({ payment }) => payment === id)
  return last ?? paymentAsked(book, id)
}

/** Returns the key and device that a payment belonged to when the owner approved it. */
export function askerAt(book: Book, act: Act & { payment: string }) {
  return askerOf(before(book, act), act.payment)
}

export function mandateAsked(book: Book, id: string): AskedMandate {
  const found = actsOf(book, 'ask mandate').find(({ mandate }) => mandate.id === id)
  if (!found) throw new Error(`nobody asked for the mandate ${id}`)
  return found.mandate
}
