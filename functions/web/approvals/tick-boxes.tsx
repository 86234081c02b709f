/** The boxes beside an approval, in words that say what each of them grants. */
import { paymentTerms, termsDigest } from '../../../shared/consent/terms.ts'
import { headroom } from '../../../shared/policy/decide.ts'
import { Checkbox } from '../ui/form.tsx'
import type { OpenedApproval } from './approvals-data.ts'

const words: Record<ApprovalOption, string> = {
  remember_payee: 'Trust this recipient: agents may pay it without asking, within my limits',
  any_key: 'Any key or app of this account may use it',
  remember_device: 'Trust this device: its key or app may pay from it without asking',
  pass_daily_cap: 'Let this one payment exceed my daily spending cap. It still counts for 24 hours',
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
            What you tick becomes part of the terms that you approve. Without a tick, no recipient
            and no device becomes trusted.
          </p>
        </details>
      )}
    </div>
  )
}

const isInSight = (name: ApprovalOption) => name === 'remember_payee' || name === 'pass_daily_cap'

// In the order of the page, in which the browser joins the names of what is ticked.
const approvalOptionNames = [
  'remember_payee',
  'pass_daily_cap',
  'any_key',
  'remember_device',
] as const
/** Option that the owner may tick. */
export type ApprovalOption = (typeof approvalOptionNames)[number]

/** Reads the ticked options from a form. */
export function approvalOptionsIn(form: URLSearchParams): ApprovalOption[] {
  return approvalOptionNames.filter((name) => form.get(name) === 'yes')
}

/** Lists the options of an approval: only what is new, and no payee that resembles a known recipient. */
export function offeredOptionsOf({ approval, facts }: OpenedApproval): ApprovalOption[] {
  const isPayeeNew = !facts.recipient_known && facts.similar_recipient === null
  const isOverCap =
    headroom(facts.limits.daily_spending_cap) < approval.payment_row.amount_usd_micros
  const isByAgent = approval.asked.title !== null
  const isOffered = {
    remember_payee: isPayeeNew,
    pass_daily_cap: !isByAgent && isOverCap,
    any_key: isByAgent,
    remember_device: isByAgent && !approval.asked.device_known,
  }
  return approvalOptionNames.filter((name) => isOffered[name])
}

/** Returns the digest of a payment's terms with the ticked options. */
export function digestWithOptions(
  { approval }: OpenedApproval,
  ticks: readonly ApprovalOption[],
): Promise<string> {
  const { payment_row: payment, asked } = approval
  return termsDigest(
    paymentTerms({
      ...payment,
      ...(ticks.includes('pass_daily_cap') && { passes_daily_cap: true }),
      ...(ticks.includes('any_key') && { for_any_key: true }),
      ...(ticks.includes('remember_payee') && { remembers_payee: true }),
      ...(ticks.includes('remember_device') && { remembered_device: asked.fingerprint }),
    }),
  )
}

/** Returns a digest for each subset of the names, by the ticked names in order, separated by spaces. */
export async function digestsOf<Name extends string>(
  names: readonly Name[],
  digest: (ticked: Name[]) => Promise<string>,
): Promise<Record<string, string>> {
  const choices = Array.from({ length: 2 ** names.length }, (_, chosen) =>
    names.filter((_name, at) => ((chosen >> at) & 1) === 1),
  )
  const entries = choices.map(async (ticked) => [ticked.join(' '), await digest(ticked)] as const)
  return Object.fromEntries(await Promise.all(entries))
}
