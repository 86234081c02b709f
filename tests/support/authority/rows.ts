/** Reads the rows that a page or an agent is shown of an account; terms are made from them. */
import * as z from 'zod'
import { mandateTermsRow } from '../../../shared/consent/mandate-row.ts'
import { mandateTerms, paymentTerms, termsDigest } from '../../../shared/consent/terms.ts'
import { paymentRow } from '../../../shared/payments/payment.ts'
import type { Ticks } from './acts.ts'
import type { Story } from './stage.ts'

const shownSchema = z.object({
  version: z.int(),
  entry: z.uuid().nullable(),
  mail: z.uuid().nullable(),
  payments: z.array(z.object({ row: paymentRow, device: z.string(), asker: z.string() })),
  mandates: z.array(mandateTermsRow),
})
export type Shown = z.output<typeof shownSchema>
type ShownPayment = Shown['payments'][number]

export async function readShown({ stage, account }: Story): Promise<Shown> {
  const [row] = await stage.ledger.query(
    `select jsonb_build_object('version', a.facts_version,
      'entry', (select e.id from private.vault_entries e where e.account = a.id limit 1),
      'mail', (select m.id from private.mails m where m.account = a.id limit 1),
      'payments', (select coalesce(jsonb_agg(jsonb_build_object('row', private.payment_json(p),
          'device', p.device, 'asker', private.asker_of(p))), '[]')
        from private.payments p where p.account = a.id),
      'mandates', (select coalesce(jsonb_agg(private.mandate_json(m)), '[]')
        from private.mandates m where m.account = a.id)) as shown
     from private.accounts a where a.id = $1`,
    [account],
  )
  return shownSchema.parse(row?.['shown'])
}

export const noTicks: Ticks = { anyKey: false, payee: false, device: false }

/** Returns the digest of a payment's terms with the owner's ticks. */
export function paymentDigest({ row, device }: ShownPayment, ticks: Ticks): Promise<string> {
  return termsDigest(
    paymentTerms({
      ...row,
      for_any_key: ticks.anyKey,
      remembers_payee: ticks.payee,
      remembered_device: ticks.device ? device : null,
    }),
  )
}

export function mandateDigest(shown: Shown, id: string, anyKey: boolean): Promise<string> {
  const mandate = shown.mandates.find((one) => one.id === id)
  if (!mandate) throw new Error(`no mandate ${id} is shown`)
  return termsDigest(mandateTerms({ ...mandate, for_any_key: anyKey }))
}
