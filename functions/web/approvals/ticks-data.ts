/** Options beside an approval. They are off until the owner ticks them, and are part of the terms. */
import { paymentTerms, termsDigest } from '../../../shared/consent/terms.ts'
import type { OpenedApproval } from './approvals-data.ts'

// In the order of the page, in which the browser joins the names of what is ticked.
const approvalOptionNames = ['remember_payee', 'any_key', 'remember_device'] as const
/** Option that the owner may tick. */
export type ApprovalOption = (typeof approvalOptionNames)[number]

/** Reads the ticked options from a form. */
export function approvalOptionsIn(form: URLSearchParams): ApprovalOption[] {
  return approvalOptionNames.filter((name) => form.get(name) === 'yes')
}

/** Lists the options of an approval: only what is new, and no payee that resembles a known recipient. */
export function offeredOptionsOf({ approval, facts }: OpenedApproval): ApprovalOption[] {
  const isPayeeNew = !facts.recipient_known && facts.similar_recipient === null
  const isOffered = {
    remember_payee: isPayeeNew,
    any_key: true,
    remember_device: !approval.asked.device_known,
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
