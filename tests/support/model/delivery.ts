/** The twin of what a merchant's answer is worth. */
import * as z from 'zod'
import type { Payment, Twin } from './state.ts'

const answerSchema = z.object({
  status: z.int().min(200).max(399),
  kind: z.enum(['answered', 'timeout', 'unreachable']),
})

/** Answers that merchants give in the model: whole, broken off, and a refusal. */
export const answers = {
  whole: { kind: 'answered', status: 200, reasons: [] },
  beginning: { kind: 'timeout', status: 200, reasons: [] },
} as const

/** Returns how much of what was paid for an answer holds: 2 all, 1 its beginning, 0 nothing. */
export function partOf(delivery: unknown): number {
  const { data } = answerSchema.safeParse(delivery)
  if (!data) return 0
  return data.kind === 'answered' ? 2 : 1
}

const owedSeconds = 86_400

/** True if a settled purchase is asked for again with the signature that paid for it. */
export function isOwed(twin: Twin, { kind, state, delivery, validBefore }: Payment): boolean {
  const isSettled = kind === 'x402' && state === 'settled'
  return isSettled && partOf(delivery) < 2 && (validBefore ?? 0) + owedSeconds > twin.now
}
