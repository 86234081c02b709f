/** The decision on a mandate, its outcome, and the buttons that stop it later. */
import type { Child, PropsWithChildren } from 'hono/jsx'
import type { MandateRow } from '../../../shared/mandates/mandate-row.ts'
import { ApprovalForm, DeclineButton } from '../approvals/consent-buttons.tsx'
import { ApprovalOptions } from '../approvals/tick-boxes.tsx'
import { Button, Form } from '../ui/form.tsx'
import { Notice, Section, Time } from '../ui/show.tsx'
import { type PageContext, webAppPath } from '../visit.ts'
import type { OpenedMandate } from './mandates-data.ts'

/** Renders the form that approves or declines; on a frozen account it only declines. `children`: details. */
export function MandateDecision({
  c,
  opened: { passkeys, mandate_row },
  digests,
  isFrozen,
  children,
}: PropsWithChildren<{
  c: PageContext
  opened: OpenedMandate
  digests: Record<string, string>
  isFrozen: boolean
}>) {
  if (!isFrozen) {
    return (
      <ApprovalForm
        c={c}
        digests={digests}
        passkeys={passkeys}
        label="Approve the mandate"
        ticks={
          <>
            {mandate_row.purpose === null && (
              <ApprovalOptions offered={['any_key']} subject="mandate" />
            )}
            {children}
          </>
        }
      >
        <DeclineButton />
      </ApprovalForm>
    )
  }
  return (
    <Form c={c}>
      {children}
      <input type="hidden" name="digest" value={digests['']} />
      <div class="actions">
        <DeclineButton />
      </div>
    </Form>
  )
}

const revokers: Record<NonNullable<MandateRow['revoked_by']>, string> = {
  owner: 'you',
  agent: 'an agent',
  app: 'the app that it was for, which gave up its access',
  service: 'the service, as it ended the access of the app that it was for',
}

/** Shows the state of a mandate that no longer waits. */
export function MandateOutcome({ opened: { mandate_row, consent } }: { opened: OpenedMandate }) {
  const { status, decided_at, expires_at, revoked_at, revoked_by } = mandate_row
  const at = decided_at && <Time at={decided_at} />
  switch (status) {
    case 'pending_approval':
      return null
    case 'active':
      return (
        <Notice kind="good" title="Approved">
          {at}
          {consent?.level === 'user_passkey' && ' with your passkey'}. There is nothing more to do:
          your agent pays within these limits until <Time at={expires_at} />, and each payment is
          listed below.
        </Notice>
      )
    case 'suspended':
      return (
        <Notice kind="warning" title="Suspended">
          Nothing is paid under it until you let it go on. Your agent has to ask each time.
        </Notice>
      )
    case 'exhausted':
      return over('Used up', 'What it allowed is spent. Your agent can ask for another one.')
    case 'expired':
      return over('Expired', 'Nothing more is paid under it. Your agent can ask for another one.')
    case 'declined':
      return over('Declined', <>{at}. Nothing can be paid under it.</>)
    case 'revoked':
      return over(
        'Revoked',
        <>
          {revoked_at && <Time at={revoked_at} />} by {revokers[revoked_by ?? 'owner']}. Nothing
          more is paid under it; what was paid before stays paid.
        </>,
      )
  }
}

function over(title: string, words: Child) {
  return <Notice title={title}>{words}</Notice>
}

/** Renders the buttons that suspend, resume and revoke it, while it is active or suspended. */
export function MandateControls({
  c,
  mandate: { status },
}: {
  c: PageContext
  mandate: MandateRow
}) {
  if (status !== 'active' && status !== 'suspended') {
    return (
      <p>
        <a href={`${webAppPath}/mandates`}>All mandates</a>
      </p>
    )
  }
  return (
    <Section title="Stop it">
      <p>A suspended mandate can go on later. A revoked one is over for good.</p>
      <Form c={c}>
        <div class="actions">
          <Button
            kind="plain"
            name="decision"
            value={status === 'active' ? 'suspended' : 'resumed'}
          >
            {status === 'active' ? 'Suspend it' : 'Let it go on'}
          </Button>
          <Button kind="danger" name="decision" value="revoked">
            Revoke it
          </Button>
        </div>
      </Form>
    </Section>
  )
}
