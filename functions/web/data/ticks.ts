/** Ticks that an owner may set beside an approval: off until then, and a part of the terms. */
import { digestOf, paymentTerms } from '../../../shared/consent/terms.ts'
import type { Opened } from './approvals.ts'

const tickNames = ['any_key', 'remember_payee', 'remember_device'] as const
export type Tick = (typeof tickNames)[number]

/** Those that a form came with. */
export function ticksIn(form: URLSearchParams): Tick[] {
  return tickNames.filter((name) => form.get(name) === 'yes')
}

/** Only what is not so already is offered, and no address that imitates another one. */
export function ticksOffered({ approval, facts }: Opened): Tick[] {
  const isPayeeNew = !facts.recipient_known && facts.similar_recipient === null
  const isOffered = {
    any_key: true,
    remember_payee: isPayeeNew,
    remember_device: !approval.asked.device_known,
  }
  return tickNames.filter((name) => isOffered[name])
}

/** The digest of a payment's terms with these. */
export function digestWith({ approval }: Opened, ticks: readonly Tick[]): Promise<string> {
  const { payment_row: payment, asked } = approval
  return digestOf(
    paymentTerms({
      ...payment,
      ...(ticks.includes('any_key') && { for_any_key: true }),
      ...(ticks.includes('remember_payee') && { remembers_payee: true }),
      ...(ticks.includes('remember_device') && { remembered_device: asked.fingerprint }),
    }),
  )
}

/** Every choice of some names, by the names that are ticked, in their order and parted by spaces. */
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
