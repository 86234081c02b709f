/** Conversion of thrown refusals into values, which can cross from one worker to another. */
import { fail, type Refusal, Rejection } from '../contract/errors.ts'
import { MissingRootError } from '../sealing/roots.ts'

/**
 * Returns the result of the work, or the refusal that ended it. A root that is no longer bound gives
 * `unavailable`: the operator binds it again, and until then its records do not change.
 */
export async function catchRefusal<T>(work: () => Promise<T>): Promise<T | Refusal> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof Rejection) return error.refusal
    if (error instanceof MissingRootError) return fail('unavailable', { log: error.message })
    throw error
  }
}
