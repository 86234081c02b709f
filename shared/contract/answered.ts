/**
 * The whole answer of an operation: what its handler answers and what the pipeline adds about the
 * capability that it belongs to. Documents describe this one, and the pipeline sends no other.
 */
import * as z from 'zod'
import { gapStatuses, gaps } from './gaps.ts'
import type { Operation } from './operation.ts'

/**
 * What a caller is answered: the response with the gap and its status on the chain that the answer
 * names, else as a whole. Of a capability that can be live it is told only while it is not.
 */
export function answerOf({ gap, response }: Operation): z.ZodType {
  if (gap === undefined) return response
  const named = z.object({ gap_id: z.literal(gap), gap_status: z.enum(gapStatuses) })
  const told = gaps[gap].best === 'live' ? named.partial() : named
  if (!(response instanceof z.ZodObject)) throw new Error(`${gap}: an answer is an object`)
  return response.extend(told.shape)
}
