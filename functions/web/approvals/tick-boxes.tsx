/** The boxes beside an approval, in words that say what each of them grants. */

import { Checkbox } from '../ui/form.tsx'
import type { ApprovalOption } from './ticks-data.ts'

const words: Record<ApprovalOption, string> = {
  remember_payee: 'Remember this recipient: agents may pay it without asking, within my limits',
  any_key: 'Any key of this account, and any app, may use it',
  remember_device: 'Remember this device: its key or app may pay from it without asking',
}

/** Renders the boxes that are offered: the one for the recipient in sight, the others folded in. */
export function ApprovalOptions({
  offered,
  subject,
}: {
  offered: readonly ApprovalOption[]
  subject: 'payment' | 'mandate'
}) {
  const [inSight, folded] = [offered.filter(isInSight), offered.filter((name) => !isInSight(name))]
  return (
    <div data-ticks="">
      {inSight.map((name) => (
        <Checkbox name={name} label={words[name]} />
      ))}
      {folded.length > 0 && (
        <details>
          <summary>Allow more than this one {subject}</summary>
          {folded.map((name) => (
            <Checkbox name={name} label={words[name]} />
          ))}
          <p class="hint">
            What you tick becomes a part of the terms that you approve. Without a tick nobody and no
            device is trusted from then on.
          </p>
        </details>
      )}
    </div>
  )
}

const isInSight = (name: ApprovalOption) => name === 'remember_payee'
