/**
 * The complete answer of an operation: the answer of its handler, and the capability status that the
 * pipeline adds. Documents describe this form, and the pipeline sends no other.
 */
import * as z from 'zod'
import { gapStatuses, gaps } from './gaps.ts'
import type { Operation } from './operation.ts'

/**
 * Returns the schema of the answer: the response with the gap and its status, on the chain that the answer
 * names or else overall. For a capability that can be live, both fields appear only while it is not.
 */
export function fullResponseOf({ gap, response }: Operation): z.ZodType {
  if (gap === undefined) return response
  const named = z.object({ gap_id: z.literal(gap), gap_status: z.enum(gapStatuses) })
  const added = gaps[gap].best === 'live' ? named.partial() : named
  if (!(response instanceof z.ZodObject)) throw new Error(`${gap}: an answer is an object`)
  return response.extend(added.shape)
}
