import * as z from 'zod'
import * as form from '../../shared/contract/forms.ts'
import { operation } from '../../shared/contract/operation.ts'

/** Contract of `check_alias`: says if an alias is free. */
export const checkAlias = operation({
  id: 'check_alias',
  method: 'GET',
  folder: 'check-availability',
  access: 'public',
  gap: 'GAP_SIGN_UP_V1',
  position: 20,
  summary: 'Whether an alias is free, in the form in which it would be registered.',
  request: z.strictObject({
    alias: form.words(64).min(1).describe('3 to 32 letters, digits, hyphens.'),
  }),
  response: z.object({
    alias: form.words(256).describe('Canonical form.'),
    available: z.boolean(),
    reason: z
      .enum(['taken', 'similar', 'reserved', 'malformed'])
      .optional()
      .describe('similar: it looks like one that is taken.'),
    suggestions: z.array(form.alias).max(16),
  }),
  errors: [],
})
