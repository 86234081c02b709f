/** The page on which the owner makes a mandate from a payment, so that the next ones like it are not asked about. */
import * as z from 'zod'
import { formatUsd } from '../../../shared/money/amount.ts'
import { goTo, readFormFields, requireOwner } from '../frame.ts'
import { Page, sendPage } from '../layout.tsx'
import { Button, Field, Form } from '../ui/form.tsx'
import { typedUsdMicros } from '../ui/typed-amount.ts'
import type { PageContext, Routes } from '../visit.ts'
import type { OpenedApproval } from './approvals-data.ts'
import { openApproval } from './open-approval.ts'
import { Amount, Payee } from './payment-terms.tsx'

/** Routes that show the form, and make the mandate that the owner then approves on its own page. */
export const routes: Routes = (app) => {
  app.get('/approve/:payment/always', async (c) => showForm(c, await openApproval(c)))
  app.post('/approve/:payment/always', make)
}

const madeRow = z.object({ mandate: z.uuid() })

async function make(c: PageContext): Promise<Response> {
  const { db } = await requireOwner(c)
  const opened = await openApproval(c)
  const typed = (await readFormFields(c)).get('month') ?? ''
  const { id: payment, amount_usd_micros: least } = opened.approval.payment_row
  const micros = typedUsdMicros(typed)
  if (micros === undefined || micros < least) return showForm(c, opened, typed)
  const question = { payment, max_total_usd_micros: micros.toString() }
  const made = await db.one('owner_make_mandate', question, madeRow)
  return goTo(c, made ? `/mandate/${made.mandate}` : '/mandates')
}

async function showForm(c: PageContext, { approval }: OpenedApproval, typed?: string) {
  const { payment_row: payment, asked } = approval
  const least = formatUsd(payment.amount_usd_micros)
  return sendPage(
    c,
    <Page
      c={c}
      title="Always allow payments like this one"
      owner={await requireOwner(c)}
      back={{ to: `/approve/${payment.id}`, label: 'The payment' }}
      scripts={['copy']}
    >
      <Form c={c}>
        <div class="headline">
          <p>
            Up to <Amount payment={payment} /> each
          </p>
          <Payee payment={payment} />
          <p class="quiet">For 30 days, and only for {asked.title ?? 'you'}.</p>
        </div>
        <Field
          name="month"
          label="At most in 30 days"
          unit="USD"
          value={typed ?? least}
          inputmode="decimal"
          autocomplete="off"
          maxlength={20}
          required
          {...(typed !== undefined && { error: `Enter an amount from ${least} to 1000000.` })}
        />
        <div class="actions">
          <Button>Review and approve the mandate</Button>
        </div>
      </Form>
    </Page>,
    typed === undefined ? 200 : 400,
  )
}
