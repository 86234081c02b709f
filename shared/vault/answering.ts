/** Refusals that cross from one worker to another, as values. */
import type { Refusal } from '../contract/errors.ts'
import { Rejection } from '../contract/errors.ts'

/** What the work answers, or the refusal with which the database ended it. */
export async function answering<T>(work: () => Promise<T>): Promise<T | Refusal> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof Rejection) return error.refusal
    throw error
  }
}
