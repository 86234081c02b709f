import type { Child } from 'hono/jsx'
import { digestOf, paymentTerms } from '../../../shared/consent/terms.ts'
import { fail, Rejection } from '../../../shared/contract/errors.ts'
import { statusOf } from '../../../shared/payments/words.ts'
import type { Opened, Standing } from '../data/approvals.ts'
import { openedRow, standingOf } from '../data/approvals.ts'
import { fields, goTo, owner } from '../frame.ts'
import { Page, show } from '../layout.tsx'
import { Amount, Left, Terms, Warnings } from '../parts/approval.tsx'
import { Button, Form, LinkButton } from '../parts/form.tsx'
import { State } from '../parts/items.tsx'
import { Notice, Time } from '../parts/show.tsx'
import type { Routes, Visit } from '../visit.ts'

export const routes: Routes = (app) => {
  app.get('/approve/:payment', async (c) => {
    const me = await owner(c)
    const opened = await open(c)
    const { approval, facts } = opened
    const standing = standingOf(approval, facts.now)
    const isFrozen = me.account.isFrozen && standing === 'waiting'
    return show(
      c,
      <Page
        c={c}
        title={titles[standing]}
        owner={me}
        back={{ to: '/approvals', label: 'Approvals' }}
        lead={<Asked {...approval} />}
        scripts={['copy']}
      >
        {isFrozen && (
          <Notice kind="warning" title="The account is frozen">
            Nothing can be approved until you unfreeze it. You can decline.
          </Notice>
        )}
        {standing === 'waiting' ? <Warnings {...opened} /> : <Outcome {...opened} />}
        <Terms approval={approval} />
        {standing === 'waiting' && <Left {...opened} />}
        <Decision
          c={c}
          standing={standing}
          digest={await digestOf(paymentTerms(approval.payment_row))}
          asker={approval.asked.asker}
        >
          {!isFrozen && (
            <Button name="decision" value="approved">
              Approve and allow it once
            </Button>
          )}
        </Decision>
      </Page>,
    )
  })

  app.post('/approve/:payment', decide)
}

async function decide(c: Visit): Promise<Response> {
  const { db } = await owner(c)
  const form = await fields(c)
  const decision = form.get('decision') === 'approved' ? 'approved' : 'declined'
  const { approval } = await open(c)
  const { id } = approval.payment_row
  // What is decided is what was shown: SQL refuses other terms and another key or device.
  const shown = { digest: form.get('digest') ?? '', asker: form.get('asker') ?? '' }
  const question = { payment: id, decision, ...shown }
  await db.run('owner_decide_payment', question)
  return goTo(c, `/approve/${id}`)
}

/** The payment of the address; of a stranger's nothing is told but that there is none here. */
async function open(c: Visit): Promise<Opened> {
  const { db } = await owner(c)
  const payment = c.req.param('payment') ?? ''
  const isId = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(payment)
  const opened = isId ? await db.one('owner_read_approval', { payment }, openedRow) : undefined
  if (opened) return opened
  const message = 'This account has no such request. A link works only in the account it is for.'
  throw new Rejection(fail('payment_not_found', { message }))
}

const titles: Record<Standing, string> = {
  waiting: 'Approve this payment?',
  approved: 'You approved this payment',
  declined: 'You declined this payment',
  expired: 'This request has expired',
  used: 'This link is used',
  other: 'Nothing to decide',
}

function Asked({ asked, payment_row }: Opened['approval']) {
  return (
    <>
      The key “{asked.label}” asked to pay <Amount payment={payment_row} />.
    </>
  )
}

/** What became of a request that waits no more. */
function Outcome({ approval, facts }: Opened) {
  const { decided_at, payment_row: payment } = approval
  switch (standingOf(approval, facts.now)) {
    case 'waiting':
      return null
    case 'approved':
      return (
        <Notice kind="good" title="Approved">
          {decided_at && <Time at={decided_at} />}. The agent can send it once, until{' '}
          <Time at={payment.expires_at} />.
        </Notice>
      )
    case 'declined':
      return (
        <Notice title="Declined">
          {decided_at && <Time at={decided_at} />}. Nothing was paid, and it cannot be sent any
          more.
        </Notice>
      )
    case 'expired':
      return <Notice title="Expired">Nothing was paid. The agent has to ask again.</Notice>
    case 'used':
      return (
        <Notice>
          The payment was sent or tried. <State of={statusOf(payment.state)} />
        </Notice>
      )
    case 'other':
      return <Notice>This payment does not wait for you.</Notice>
  }
}

function Decision({
  c,
  standing,
  digest,
  asker,
  children,
}: {
  c: Visit
  standing: Standing
  digest: string
  asker: string
  children: Child
}) {
  if (standing !== 'waiting' && standing !== 'approved') {
    return (
      <p class="actions">
        <LinkButton to="/approvals">All approvals</LinkButton>
      </p>
    )
  }
  return (
    <Form c={c}>
      <input type="hidden" name="digest" value={digest} />
      <input type="hidden" name="asker" value={asker} />
      <div class="actions">
        {standing === 'waiting' && children}
        <Button kind="plain" name="decision" value="declined">
          {standing === 'waiting' ? 'Decline' : 'Take the approval back'}
        </Button>
      </div>
    </Form>
  )
}
