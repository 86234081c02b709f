/** Refusals that cross from one worker to another, as values. */
import type { Refusal } from '../contract/errors.ts'
import { fail, Rejection } from '../contract/errors.ts'
import { MissingRoot } from '../sealing/roots.ts'

/**
 * What the work answers, or the refusal with which the database ended it. A root that is not bound
 * here, but was, is for the operator to bind again: until then nothing of its records is changed.
 */
export async function answering<T>(work: () => Promise<T>): Promise<T | Refusal> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof Rejection) return error.refusal
    if (error instanceof MissingRoot) return fail('unavailable', { log: error.message })
    throw error
  }
}
