/** Fields by which an agent goes on: the next call, and how long a status waits. */
import * as z from 'zod'
import * as form from './forms.ts'

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
