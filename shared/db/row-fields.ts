/** How SQL tells amounts and times, read once where a row comes in. */
import * as z from 'zod'

/** A whole number that is not negative, as text. */
export const bigintText = z
  .string()
  .regex(/^[0-9]+$/)
  .transform(BigInt)

/** A time as SQL tells it, brought to UTC. */
export const time = z.iso
  .datetime({ offset: true })
  .transform((text) => new Date(text).toISOString())
