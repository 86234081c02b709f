/** Parsers of amounts and times as SQL returns them, applied once where a row comes in. */
import * as z from 'zod'

/** A non-negative whole number, as text. */
export const bigintText = z
  .string()
  .regex(/^[0-9]+$/)
  .transform(BigInt)

/** A time as SQL returns it, converted to UTC. */
export const time = z.iso
  .datetime({ offset: true })
  .transform((text) => new Date(text).toISOString())
