/** The routes of one payment, which the owner approves and sends, declines, or takes an approval back from. */
import { unbound } from '../../../shared/db/database.ts'
import { moneySent, recipientTrusted } from '../../../shared/mail/money-messages.ts'
import { sendTransfer } from '../../../shared/payments/pay/transfer.ts'
import { watchPayment } from '../../../shared/payments/settle/watch.ts'
import { agreedAmount } from '../../../shared/payments/words.ts'
import { visibleLine } from '../../../shared/text/untrusted.ts'
import { goTo, readFormFields, requireOwner } from '../frame.ts'
import { readOwnerConsent } from '../own-consent.ts'
import { ownerSessionOf, sealOwnerNotice } from '../session.ts'
import type { PageContext, Routes } from '../visit.ts'
import { approvalStatusOf, type OpenedApproval } from './approvals-data.ts'
import { standingMark } from './approve-outcome.tsx'
import { showApproval } from './approve-screen.tsx'
import { reasonCharactersMax } from './consent-buttons.tsx'
import { consentProblemOf, outcomeRow } from './consent-data.ts'
import { openApproval, sendApproved } from './open-approval.ts'
import { type ApprovalOption, approvalOptionsIn, digestWithOptions } from './tick-boxes.tsx'

/** Routes that show the payment, take the decision, and tell what became of it. */
export const routes: Routes = (app) => {
  app.get('/approve/:payment', async (c) => showApproval(c, await readApproval(c)))
  app.get('/approve/:payment/status', async (c) => c.text(standingMark(await readApproval(c))))
  app.post('/approve/:payment', decideApproval)
}

async function decideApproval(c: PageContext): Promise<Response> {
  const { db } = await requireOwner(c)
  const form = await readFormFields(c)
  const opened = await openApproval(c)
  const { id } = opened.approval.payment_row
  if (form.get('decision') === 'approved') return approvePayment(c, opened, form)
  if (form.get('decision') === 'send') return sendTransferNow(c, opened)
  const takesBack = opened.approval.decision === 'approved'
  if (takesBack && form.get('sure') !== 'yes') return goTo(c, `/approve/${id}`, 'unsure')
  const reason = visibleLine((form.get('reason') ?? '').slice(0, reasonCharactersMax))
  const declined = { payment: id, decision: 'declined', ...shownIn(form), reason }
  await db.run('owner_decide_payment', declined)
  return goTo(c, `/approve/${id}`)
}

async function approvePayment(
  c: PageContext,
  opened: OpenedApproval,
  form: URLSearchParams,
): Promise<Response> {
  const { db } = await requireOwner(c)
  const { id: payment } = opened.approval.payment_row
  const { digest: shown, asker } = shownIn(form)
  if (shown !== (await digestWithOptions(opened, []))) return showApproval(c, opened, 'changed')
  const ticks = approvalOptionsIn(form)
  const digest = await digestWithOptions(opened, ticks)
  const assertion = await readOwnerConsent(await ownerSessionOf(c), form, digest, opened.passkeys)
  if (assertion === undefined) return showApproval(c, opened, 'answer')
  // The decision is bound to what was shown: SQL refuses other terms and another key or device.
  const question = { payment, decision: 'approved', digest, asker, assertion }
  const ticked = Object.fromEntries(ticks.map((name) => [name, true]))
  const mail = await mailAbout(c, opened, ticks)
  const entered = await db.one('owner_decide_payment', { ...question, ...ticked, mail }, outcomeRow)
  const consentProblem = consentProblemOf(entered?.outcome)
  return consentProblem
    ? showApproval(c, await openApproval(c), consentProblem)
    : sendTransferNow(c, opened)
}

/** Sends an approved transfer at once. */
async function sendTransferNow(c: PageContext, { approval }: OpenedApproval): Promise<Response> {
  const unsent = await sendApproved(c, approval.payment_row, sendTransfer)
  return goTo(
    c,
    `/approve/${approval.payment_row.id}${unsent === undefined ? '' : `?unsent=${unsent}`}`,
  )
}

/** Seals a mail about a payment that the owner entered, or about a payee that becomes known; else returns null. */
async function mailAbout(
  c: PageContext,
  { approval }: OpenedApproval,
  ticks: readonly ApprovalOption[],
) {
  const payment = approval.payment_row
  const { payee: address, payee_alias: label } = payment
  if (approval.asked.title === null) {
    const amount = agreedAmount(payment)
    return sealOwnerNotice(c, (webUrl, deed) =>
      moneySent(webUrl, { ...deed, amount, label, address }),
    )
  }
  if (!ticks.includes('remember_payee')) return null
  return sealOwnerNotice(c, (webUrl, deed) => recipientTrusted(webUrl, { ...deed, label, address }))
}

function shownIn(form: URLSearchParams) {
  return { digest: form.get('digest') ?? '', asker: form.get('asker') ?? '' }
}

/** Reads the payment of the address, on its chain too while it is on its way. */
async function readApproval(c: PageContext): Promise<OpenedApproval> {
  const opened = await openApproval(c)
  const { approval, facts } = opened
  if (approvalStatusOf(approval, facts.now) !== 'sent') return opened
  const world = c.get('world')
  const { payment } = await watchPayment(world, unbound(world.db), approval.payment_row)
  return { ...opened, approval: { ...approval, payment_row: payment } }
}
