/** The page of payments that wait for approval, which the owner decides on in the row, one by one, or as a batch. */
import { assetOf } from '../../../shared/chains/registry.ts'
import { batchSize } from '../../../shared/consent/consent.ts'
import { paymentTerms, termsDigest } from '../../../shared/consent/terms.ts'
import { merchantOf } from '../../../shared/payments/words.ts'
import { goTo, readFormFields, requireOwner } from '../frame.ts'
import { Page, sendPage } from '../layout.tsx'
import { Button, Checkbox, Form, LinkButton } from '../ui/form.tsx'
import { Address, agoOf, Badge, Empty, Section, Table } from '../ui/show.tsx'
import { type PageContext, type Routes, webAppPath } from '../visit.ts'
import { type ListedApproval, listedRow } from './approvals-data.ts'
import { Amount, duplicateWords } from './payment-terms.tsx'

const listedMax = 50

/** Routes that list the payments and decline all of them. */
export const routes: Routes = (app) => {
  app.get('/approvals', async (c) => {
    const me = await requireOwner(c)
    const row = await me.db.one('owner_list_approvals', { listed_max: listedMax }, listedRow)
    if (!row) throw new Error('a list has no row')
    const { approvals, waiting, needs_passkey } = row
    const digests = await digestsOf(needs_passkey || me.account.isFrozen ? [] : approvals)
    return sendPage(
      c,
      <Page
        c={c}
        title="Approvals"
        owner={me}
        lead="Payments that agents may not make on their own wait here for up to a day."
        scripts={['considered']}
      >
        {approvals.length === 0 ? (
          <Empty>Nothing is waiting for you.</Empty>
        ) : (
          <Waiting approvals={approvals} waiting={waiting} c={c} digests={digests} />
        )}
      </Page>,
    )
  })

  app.post('/approvals', async (c) => {
    const { db } = await requireOwner(c)
    if ((await readFormFields(c)).get('sure') !== 'yes') return goTo(c, '/approvals', 'unsure')
    await db.run('owner_decline_all', {})
    return goTo(c, '/approvals', 'declined_all')
  })
}

/** Returns the digests that approve payments in their rows, whose pages would show nothing to be read first. */
async function digestsOf(approvals: readonly ListedApproval[]): Promise<Map<string, string>> {
  const plain = approvals.filter(({ decision, is_plain }) => decision === null && is_plain)
  const entries = plain.map(async ({ payment_row: payment }) => {
    return [payment.id, await termsDigest(paymentTerms(payment))] as const
  })
  return new Map(await Promise.all(entries))
}

type WaitingProps = {
  c: PageContext
  approvals: readonly ListedApproval[]
  waiting: number
  /** Digests of the terms of the payments that can be approved here, by payment. */
  digests: ReadonlyMap<string, string>
}

function Waiting({ c, approvals, waiting, digests }: WaitingProps) {
  const undecided = approvals.filter(({ decision }) => decision === null)
  const isChoice = undecided.length >= batchSize.min
  return (
    <>
      <Section title={waiting === 1 ? 'One payment' : `${waiting} payments`}>
        <Payments c={c} approvals={approvals} isChoice={isChoice} digests={digests} />
        {isChoice && (
          <form method="get" action={`${webAppPath}/approve-batch`} id={chosen}>
            <Button kind="plain">Review selected</Button>
          </form>
        )}
        {waiting > approvals.length && <p class="hint">The newest {approvals.length} are shown.</p>}
      </Section>
      <Section title="Decline all">
        <p>This declines every payment above, including approved payments that are not sent yet.</p>
        <Form c={c}>
          <Checkbox name="sure" label="Do not pay any of them" />
          <div class="actions">
            <Button kind="danger">Decline all</Button>
          </div>
        </Form>
      </Section>
    </>
  )
}

/** Id of the form that the marks of the rows belong to; forms of rows cannot stand inside it. */
const chosen = 'chosen'

function Payments({
  c,
  approvals,
  isChoice,
  digests,
}: Omit<WaitingProps, 'waiting'> & { isChoice: boolean }) {
  const choice = {
    label: 'Choose',
    cell: (approval: ListedApproval) => <Choice approval={approval} />,
  }
  const now = c.get('world').now().getTime()
  return (
    <Table
      caption="Waiting payments, newest first"
      rows={approvals}
      columns={[
        ...(isChoice ? [choice] : []),
        { label: 'Amount', cell: ({ payment_row }) => <Amount payment={payment_row} /> },
        { label: 'To', cell: (approval) => <Payee approval={approval} /> },
        { label: 'Requested by', cell: ({ asked }) => asked.title ?? 'You' },
        { label: 'Requested', cell: ({ payment_row }) => agoOf(now, payment_row.created_at) },
        {
          label: 'Decision',
          cell: (approval) => (
            <Decision c={c} approval={approval} digest={digests.get(approval.payment_row.id)} />
          ),
        },
      ]}
    />
  )
}

/** Selects a payment for an approval together with others; the owner's own are approved one by one. */
function Choice({ approval: { asked, decision, payment_row } }: { approval: ListedApproval }) {
  if (decision !== null || asked.title === null) return null
  return (
    <label>
      <input type="checkbox" name="payment" value={payment_row.id} form={chosen} />
      <span class="unseen">
        Choose <Amount payment={payment_row} />
      </span>
    </label>
  )
}

/** Shows the payee's name, or the whole address: a part of an address is easily imitated. */
function Payee({ approval }: { approval: ListedApproval }) {
  const { label, payment_row: payment, is_duplicate: isDuplicate } = approval
  return (
    <>
      {label ?? payment.payee_alias ?? merchantOf(payment) ?? <Address value={payment.payee} />} on{' '}
      {assetOf(payment).chain.title}
      {isDuplicate && (
        <>
          {' '}
          <Badge kind="warning">{duplicateWords}</Badge>
        </>
      )}
    </>
  )
}

/** Renders both buttons, or a link to the page that shows what has to be read or touched first. */
function Decision({
  c,
  approval: { asked, decision, payment_row },
  digest,
}: {
  c: PageContext
  approval: ListedApproval
  digest: string | undefined
}) {
  const path = `/approve/${payment_row.id}`
  const details = <a href={webAppPath + path}>Details</a>
  if (decision === 'approved') {
    return (
      <>
        <Badge kind="good">Approved</Badge> {details}
      </>
    )
  }
  if (digest === undefined) return <LinkButton to={path}>Review</LinkButton>
  return (
    <Form c={c} action={path}>
      <input type="hidden" name="digest" value={digest} />
      <input type="hidden" name="asker" value={asked.asker} />
      <div class="actions">
        <Button name="decision" value="approved" data-considered="">
          Approve and pay
        </Button>
        <Button kind="plain" name="decision" value="declined">
          Decline
        </Button>
        {details}
      </div>
    </Form>
  )
}
