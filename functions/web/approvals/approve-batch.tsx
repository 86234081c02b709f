/** The page of several payments, which the owner approves together. */
import { batchSize, batchTerms } from '../../../shared/consent/consent.ts'
import { paymentTerms, termsDigest } from '../../../shared/consent/terms.ts'
import { sendTransfer } from '../../../shared/payments/pay/transfer.ts'
import { goTo, readFormFields, requireOwner } from '../frame.ts'
import { Page, sendPage } from '../layout.tsx'
import { readOwnerConsent } from '../own-consent.ts'
import { ownerSessionOf } from '../session.ts'
import { FrozenApprovalNotice } from '../ui/attention.tsx'
import { Form } from '../ui/form.tsx'
import { agoOf, Money, usdRoundedUp } from '../ui/show.tsx'
import type { PageContext, Routes } from '../visit.ts'
import { approvalStatusOf, type OpenedApproval, openApprovals } from './approvals-data.ts'
import { ApprovalForm, ConsentProblemNotice, DeclineButton, Digest } from './consent-buttons.tsx'
import { type ConsentProblem, consentProblemOf, outcomeRow } from './consent-data.ts'
import { sendApproved } from './open-approval.ts'
import { Amount, Chips, ImitationWarning, Note, Payee, Terms } from './payment-terms.tsx'

const path = '/approve-batch'

/** Routes that show the payments and approve all of them at once. */
export const routes: Routes = (app) => {
  app.get(path, async (c) => showBatch(c, await chosen(c)))
  app.post(path, approveBatch)
}

/** Reads the payments that the query names and that wait for an agent, each once; it ignores all others. */
async function chosen(c: PageContext): Promise<OpenedApproval[]> {
  const named = [...new Set(c.req.queries('payment') ?? [])].slice(0, batchSize.max)
  const found = await openApprovals(await requireOwner(c), named)
  return found.filter(
    ({ approval, facts }) =>
      approval.asked.title !== null && approvalStatusOf(approval, facts.now) === 'waiting',
  )
}

/** Returns the digest that one approval of all of them signs; undefined if they are too few. */
async function digestOfAll(
  c: PageContext,
  batch: readonly OpenedApproval[],
): Promise<string | undefined> {
  if (batch.length < batchSize.min) return undefined
  const digests = batch.map(({ approval }) => termsDigest(paymentTerms(approval.payment_row)))
  const { account } = await requireOwner(c)
  return termsDigest(await batchTerms(account.id, await Promise.all(digests)))
}

async function showBatch(
  c: PageContext,
  batch: readonly OpenedApproval[],
  consentProblem?: ConsentProblem,
) {
  const me = await requireOwner(c)
  const digest = await digestOfAll(c, batch)
  if (digest === undefined) return goTo(c, '/approvals', 'few')
  return sendPage(
    c,
    <Page
      c={c}
      title={`Approve these ${batch.length} payments?`}
      owner={me}
      isDecision
      back={{ to: '/approvals', label: 'Approvals' }}
      scripts={['copy', 'passkey', 'considered']}
    >
      <ConsentProblemNotice why={consentProblem} />
      {me.account.isFrozen && <FrozenApprovalNotice />}
      <Headline batch={batch} />
      {batch.map((opened) => (
        <div class="one-of">
          <p>
            <strong>
              <Amount payment={opened.approval.payment_row} />
            </strong>
          </p>
          <Payee payment={opened.approval.payment_row} />
          <Note payment={opened.approval.payment_row} />
          <Chips {...opened} />
          <ImitationWarning {...opened} />
        </div>
      ))}
      <Decision c={c} batch={batch} digest={digest} isFrozen={me.account.isFrozen} />
    </Page>,
    consentProblem === undefined ? 200 : 409,
  )
}

/** Shows the sum, and who asked for the payments since when. */
function Headline({ batch }: { batch: readonly OpenedApproval[] }) {
  const sum = batch.reduce((usd, { approval }) => usd + approval.payment_row.amount_usd_micros, 0n)
  const askers = new Set(batch.map(({ approval }) => approval.asked.title ?? 'you'))
  const asked = batch.map(({ approval }) => approval.payment_row.created_at)
  const [first = ''] = asked.toSorted((a, b) => Date.parse(a) - Date.parse(b))
  return (
    <div class="headline">
      <p class="figure">
        <Money amount={usdRoundedUp(sum)} unit="USD in total" />
      </p>
      <p class="quiet">
        Requested by {[...askers].join(', ')}, first{' '}
        {agoOf((batch[0]?.facts.now ?? 0) * 1000, first)}.
      </p>
      <p>One approval covers all of them, exactly as shown here. It makes no recipient trusted.</p>
    </div>
  )
}

function Decision({
  c,
  batch,
  digest,
  isFrozen,
}: {
  c: PageContext
  batch: readonly OpenedApproval[]
  digest: string
  isFrozen: boolean
}) {
  const details = (
    <details>
      <summary>All terms</summary>
      {batch.map(({ approval }, at) => (
        <Terms approval={approval} title={`Payment ${at + 1} of ${batch.length}`} />
      ))}
      <Digest value={digest} />
    </details>
  )
  if (isFrozen) {
    return (
      <Form c={c} action={batchPath(batch)}>
        {details}
        <div class="actions">
          <DeclineButton />
        </div>
      </Form>
    )
  }
  return (
    <ApprovalForm
      c={c}
      action={batchPath(batch)}
      digests={{ '': digest }}
      passkeys={batch[0]?.passkeys ?? []}
      label="Approve and pay all"
      // Key and device that asked for each payment, in the order of the page.
      asker={batch.map(({ approval }) => approval.asked.asker).join(' ')}
      ticks={details}
    >
      <DeclineButton />
    </ApprovalForm>
  )
}

function batchPath(batch: readonly OpenedApproval[]): string {
  const named = new URLSearchParams()
  for (const { approval } of batch) named.append('payment', approval.payment_row.id)
  return `${path}?${named.toString()}`
}

async function approveBatch(c: PageContext): Promise<Response> {
  const { db } = await requireOwner(c)
  const form = await readFormFields(c)
  const batch = await chosen(c)
  if (form.get('decision') === 'declined') return declineAll(c, batch)
  const digest = form.get('digest') ?? ''
  const askers = (form.get('asker') ?? '').split(' ')
  // All of them are approved as they were shown, or none: SQL compares each once more.
  if (digest !== (await digestOfAll(c, batch)) || askers.length !== batch.length) {
    return showBatch(c, batch, 'changed')
  }
  const assertion = await readOwnerConsent(
    await ownerSessionOf(c),
    form,
    digest,
    batch[0]?.passkeys ?? [],
  )
  if (assertion === undefined) return showBatch(c, batch, 'answer')
  const payments = batch.map(({ approval }) => approval.payment_row.id)
  const question = { payments, askers, digest, assertion }
  const entered = await db.one('owner_approve_batch', question, outcomeRow)
  const consentProblem = consentProblemOf(entered?.outcome)
  if (consentProblem) return showBatch(c, await chosen(c), consentProblem)
  let unsent = 0
  for (const { approval } of batch) {
    const why = await sendApproved(c, approval.payment_row, sendTransfer)
    if (why !== undefined) unsent += 1
  }
  return goTo(c, '/approvals', unsent > 0 ? 'approved_unsent' : 'approved')
}

/** Declines each of the payments as it stands now. */
async function declineAll(c: PageContext, batch: readonly OpenedApproval[]): Promise<Response> {
  const { db } = await requireOwner(c)
  for (const { approval } of batch) {
    const { id: payment } = approval.payment_row
    const digest = await termsDigest(paymentTerms(approval.payment_row))
    await db.run('owner_decide_payment', { payment, decision: 'declined', digest })
  }
  return goTo(c, '/approvals')
}
