/** The boxes beside an approval, in words that say what each of them grants. */

import { Checkbox } from '../ui/form.tsx'
import type { ApprovalOption } from './ticks-data.ts'

const words: Record<ApprovalOption, string> = {
  any_key: 'Any key of this account, and any app, may use it',
  remember_payee:
    'and remember this payee: agents may then pay it without asking, within my limits',
  remember_device: 'and remember this device: its key or app may then pay from it without asking',
}

/** Renders the boxes that are offered. */
export function ApprovalOptions({
  offered,
  subject,
}: {
  offered: readonly ApprovalOption[]
  subject: 'payment' | 'mandate'
}) {
  if (offered.length === 0) return null
  return (
    <fieldset data-ticks="">
      <legend>Only if you want more than this one {subject}</legend>
      {offered.map((name) => (
        <Checkbox name={name} label={words[name]} />
      ))}
      <p class="hint">
        What you tick becomes a part of the terms that you approve. Without a tick nobody and no
        device is trusted from then on.
      </p>
    </fieldset>
  )
}
