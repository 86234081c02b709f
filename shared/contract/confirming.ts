/** Fields of an answer that asks for a confirmation, or says why a payment does not pass. */
import * as z from 'zod'
import { consentLevel, time, untrustedText, usd, window } from './fields.ts'
import * as form from './forms.ts'

/** Reasons why a payment does not pass by itself. */
export const reasons = z
  .array(
    z.object({
      code: form.word,
      message: form.words(4096),
      untrusted: untrustedText.optional().describe('The words of the merchant.'),
      headroom_usd: usd.optional(),
      resets_at: time.nullable().optional(),
      mandate_id: z
        .uuid()
        .optional()
        .describe('The mandate that does not cover it for this reason.'),
    }),
  )
  .max(10_000)

/** The mandate that covers a payment without asking anyone. */
export const coveredBy = z
  .object({ mandate_id: z.uuid() })
  .describe('The mandate that carries it with nobody asked.')

const fittingWindow = window.extend({
  fits_at: time.nullable().describe('When this amount fits if nothing else is spent; null: never.'),
})

/** Fields beside reasons: all windows, the smallest changes that would let it pass, and these in words. */
export const whatWouldPass = {
  windows: z
    .object({
      automatic_daily: fittingWindow,
      asserted_daily: fittingWindow,
      asserted_new_recipient: fittingWindow
        .optional()
        .describe('To this recipient on the word of agents, while the owner does not know it.'),
      daily_spending_cap: fittingWindow,
      monthly_spending_cap: fittingWindow.describe('Of 30 days.'),
      credential_daily: fittingWindow.optional().describe('Where this key or app has such a cap.'),
    })
    .optional(),
  would_pass: z
    .array(
      z.object({
        change: z.enum([
          'confirm_with_user',
          'ask_owner_to_approve',
          'ask_owner_for_mandate',
          'pay_less',
          'wait',
          'raise_limit',
        ]),
        user_confirmed: z.boolean().describe('What user_confirmed has to be with it.'),
        amount_usd: usd.optional().describe('The most that passes now.'),
        until: time.optional(),
        limit: form.word.optional(),
        title: form.words(64).optional().describe('Of the limit, as the owner sees it.'),
        limit_usd: usd.optional().describe('The least that the limit has to be.'),
      }),
    )
    .max(100)
    .optional()
    .describe('Any one of these changes would let it through.'),
  hint: form.words(16_384).optional().describe('What would pass, in words.'),
}

/** A confirmation that is needed, with its level. The digest is SHA-256 over the canonical terms. */
export const confirmation = z.object({
  level: consentLevel,
  digest: form.sha256,
  expires_at: time,
  status: z
    .enum(['pending', 'approved', 'declined', 'expired'])
    .describe('An approved transfer is sent at once; a purchase is yours to execute.'),
  url: form.url.describe('The page on which the owner sees the terms and approves or declines.'),
  decline_reason: form.words(280).optional().describe('In the words of the owner.'),
})

/** The call that continues this one, ready to be sent. */
export const next = z
  .object({
    tool: form.word,
    arguments: z.record(form.word, z.unknown()),
    when: form.words(256).describe('When to send it.'),
  })
  .optional()
  .describe('The next call, ready to be sent.')

/** Seconds that a status waits for a change. */
export const waitSeconds = z
  .int()
  .min(0)
  .max(25)
  .optional()
  .describe('Answers when it changes, or after so long.')

/** The same for an operation that is asked with GET. */
export const waitSecondsText = z
  .string()
  .max(2)
  .regex(/^(1?[0-9]|2[0-5])$/, 'an integer from 0 to 25')
  .optional()
  .describe('Answers when it changes, or after 0 to 25 seconds.')
