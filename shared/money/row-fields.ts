/** Parsers of amounts and times as SQL returns them, applied once where a row comes in. */
import * as z from 'zod'

/** The only reader of amounts in rows: a non-negative whole number as text, as long as numeric(78,0) allows. */
export const bigintText = z
  .string()
  .regex(/^[0-9]{1,78}$/)
  .transform(BigInt)

/** A time as SQL returns it, converted to UTC. */
export const time = z.iso
  .datetime({ offset: true })
  .transform((text) => new Date(text).toISOString())
