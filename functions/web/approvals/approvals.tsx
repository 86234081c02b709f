/** The page of payments that wait for approval, which the owner opens, selects for a batch or declines. */
import { batchSize } from '../../../shared/consent/batch.ts'
import { merchantOf } from '../../../shared/payments/words.ts'
import { goTo, requireOwner } from '../frame.ts'
import { Page, sendPage } from '../layout.tsx'
import { Button, Form, LinkButton } from '../ui/form.tsx'
import { Address, Badge, Empty, Notice, Section, Table, Time } from '../ui/show.tsx'
import type { PageContext, Routes } from '../visit.ts'
import { webAppPath } from '../visit.ts'
import type { Approval } from './approvals-data.ts'
import { listedRow } from './approvals-data.ts'
import { Amount } from './payment-terms.tsx'

const listedMax = 50

/** Routes that list the payments and decline all of them. */
export const routes: Routes = (app) => {
  app.get('/approvals', async (c) => {
    const me = await requireOwner(c)
    const row = await me.db.one('owner_list_approvals', { listed_max: listedMax }, listedRow)
    const { approvals, waiting } = row ?? { approvals: [], waiting: 0 }
    return sendPage(
      c,
      <Page
        c={c}
        title="Approvals"
        owner={me}
        lead="Payments that an agent may not make by itself wait here for up to a day."
      >
        {c.req.query('approved') !== undefined && (
          <Notice kind="good" title="Approved">
            {c.req.query('unsent') === undefined
              ? 'The transfers are sent.'
              : 'Some could not be sent: they stand below, and their pages say why.'}{' '}
            Purchases are left to the agent, which gets what it buys.
          </Notice>
        )}
        {approvals.length === 0 ? (
          <Empty>Nothing waits for you.</Empty>
        ) : (
          <Waiting approvals={approvals} waiting={waiting} c={c} />
        )}
      </Page>,
    )
  })

  app.post('/approvals', async (c) => {
    const { db } = await requireOwner(c)
    await db.run('owner_decline_all', {})
    return goTo(c, '/approvals')
  })
}

function Waiting({
  c,
  approvals,
  waiting,
}: {
  c: PageContext
  approvals: Approval[]
  waiting: number
}) {
  const undecided = approvals.filter(({ decision }) => decision === null)
  return (
    <>
      <Section title={waiting === 1 ? 'One payment' : `${waiting} payments`}>
        {undecided.length >= batchSize.min ? (
          <form method="get" action={`${webAppPath}/approve-batch`}>
            <Payments approvals={approvals} isChoice />
            <div class="actions">
              <Button kind="plain">Look at the chosen ones</Button>
            </div>
          </form>
        ) : (
          <Payments approvals={approvals} isChoice={false} />
        )}
        {waiting > approvals.length && <p class="hint">The newest {approvals.length} are shown.</p>}
      </Section>
      <Section title="Decline all">
        <p>
          This declines every payment above, also those that you approved and that are not sent yet.
        </p>
        <Form c={c}>
          <div class="actions">
            <Button kind="danger">Decline all</Button>
          </div>
        </Form>
      </Section>
    </>
  )
}

function Payments({ approvals, isChoice }: { approvals: Approval[]; isChoice: boolean }) {
  const choice = { label: 'Choose', cell: (approval: Approval) => <Choice approval={approval} /> }
  return (
    <Table
      caption="Payments that wait, newest first"
      rows={approvals}
      columns={[
        ...(isChoice ? [choice] : []),
        { label: 'Amount', cell: ({ payment_row }) => <Amount payment={payment_row} /> },
        { label: 'To', cell: ({ payment_row }) => payeeOf(payment_row) },
        { label: 'Asked by', cell: ({ asked }) => asked.title },
        { label: 'Until', cell: ({ payment_row }) => <Time at={payment_row.expires_at} /> },
        { label: 'Decision', cell: (approval) => <Way approval={approval} /> },
      ]}
    />
  )
}

/** Selects a payment for an approval together with others. */
function Choice({ approval: { decision, payment_row } }: { approval: Approval }) {
  if (decision !== null) return null
  return (
    <label>
      <input type="checkbox" name="payment" value={payment_row.id} />
      <span class="unseen">
        Choose <Amount payment={payment_row} />
      </span>
    </label>
  )
}

/** Returns the payee's name, or the whole address: a part of an address is easily imitated. */
function payeeOf(payment: Approval['payment_row']) {
  return payment.payee_alias ?? merchantOf(payment) ?? <Address value={payment.payee} />
}

function Way({ approval: { decision, payment_row } }: { approval: Approval }) {
  return decision === 'approved' ? (
    <div>
      <Badge kind="good">Approved</Badge>{' '}
      <a href={`${webAppPath}/approve/${payment_row.id}`}>Look</a>
    </div>
  ) : (
    <LinkButton to={`/approve/${payment_row.id}`}>Look and decide</LinkButton>
  )
}
