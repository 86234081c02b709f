import { randomUUID } from './seed.ts'

/** Makes an order a wish of its own by its note: an equal one within ten minutes would be asked about. */
export function anew<Order extends object>(order: Order): Order & { memo: string } {
  return { ...order, memo: randomUUID() }
}
