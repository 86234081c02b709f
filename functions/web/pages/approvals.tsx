import type { Approval } from '../data/approvals.ts'
import { listedRow } from '../data/approvals.ts'
import { goTo, owner } from '../frame.ts'
import { Page, show } from '../layout.tsx'
import { Amount } from '../parts/approval.tsx'
import { Button, Form, LinkButton } from '../parts/form.tsx'
import { Address, Badge, Empty, Section, Table, Time } from '../parts/show.tsx'
import type { Routes, Visit } from '../visit.ts'
import { pagesBelow } from '../visit.ts'

const listedMax = 50

export const routes: Routes = (app) => {
  app.get('/approvals', async (c) => {
    const me = await owner(c)
    const row = await me.db.one('owner_list_approvals', { listed_max: listedMax }, listedRow)
    const { approvals, waiting } = row ?? { approvals: [], waiting: 0 }
    return show(
      c,
      <Page
        c={c}
        title="Approvals"
        owner={me}
        lead="Payments that an agent may not make by itself wait here for up to a day."
      >
        {approvals.length === 0 ? (
          <Empty>Nothing waits for you.</Empty>
        ) : (
          <Waiting approvals={approvals} waiting={waiting} c={c} />
        )}
      </Page>,
    )
  })

  app.post('/approvals', async (c) => {
    const { db } = await owner(c)
    await db.run('owner_decline_all', {})
    return goTo(c, '/approvals')
  })
}

function Waiting({ c, approvals, waiting }: { c: Visit; approvals: Approval[]; waiting: number }) {
  return (
    <>
      <Section title={waiting === 1 ? 'One payment' : `${waiting} payments`}>
        <Table
          caption="Payments that wait, newest first"
          rows={approvals}
          columns={[
            { label: 'Amount', cell: ({ payment_row }) => <Amount payment={payment_row} /> },
            { label: 'To', cell: ({ payment_row }) => payeeOf(payment_row) },
            { label: 'Asked by', cell: ({ asked }) => asked.label },
            { label: 'Until', cell: ({ payment_row }) => <Time at={payment_row.expires_at} /> },
            { label: 'Decision', cell: (approval) => <Way approval={approval} /> },
          ]}
        />
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

/** A name where there is one, else the whole address: parts of one are easily imitated. */
function payeeOf({ payee, payee_alias, terms }: Approval['payment_row']) {
  const { origin } = terms
  return (
    payee_alias ?? (typeof origin === 'string' ? new URL(origin).host : <Address value={payee} />)
  )
}

function Way({ approval: { decision, payment_row } }: { approval: Approval }) {
  return decision === 'approved' ? (
    <div>
      <Badge kind="good">Approved</Badge>{' '}
      <a href={`${pagesBelow}/approve/${payment_row.id}`}>Look</a>
    </div>
  ) : (
    <LinkButton to={`/approve/${payment_row.id}`}>Look and decide</LinkButton>
  )
}
