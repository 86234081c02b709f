/** What the owner can do about a mandate, and where it stands once the owner did. */
import type { Child } from 'hono/jsx'
import type { MandateRow } from '../../../shared/mandates/mandate-row.ts'
import type { OpenedMandate } from '../data/mandates.ts'
import type { Visit } from '../visit.ts'
import { pagesBelow } from '../visit.ts'
import { ConsentForm } from './consent.tsx'
import { Button, Form } from './form.tsx'
import { Notice, Section, Time } from './show.tsx'
import { Ticks } from './ticks.tsx'

export function MandateDecision({
  c,
  opened: { passkeys },
  digests,
  isFrozen,
}: {
  c: Visit
  opened: OpenedMandate
  digests: Record<string, string>
  isFrozen: boolean
}) {
  const decline = (
    <Button kind="plain" name="decision" value="declined">
      Decline
    </Button>
  )
  if (!isFrozen) {
    return (
      <ConsentForm
        c={c}
        digests={digests}
        passkeys={passkeys}
        label="Approve the mandate"
        ticks={<Ticks offered={['any_key']} subject="mandate" />}
      >
        {decline}
      </ConsentForm>
    )
  }
  return (
    <Form c={c}>
      <input type="hidden" name="digest" value={digests['']} />
      <div class="actions">{decline}</div>
    </Form>
  )
}

/** An approval is for the device too, under this mandate alone. */
export function NewDevice({ asked }: Pick<OpenedMandate, 'asked'>) {
  if (asked.device_known) return null
  return (
    <Notice kind="warning" title="New device">
      You do not know the device that this was asked from. If you approve, it can pay under this
      mandate, and for everything else you are asked as before.
    </Notice>
  )
}

const revokers: Record<NonNullable<MandateRow['revoked_by']>, string> = {
  owner: 'you',
  agent: 'an agent',
  app: 'the app that it was for, which gave up its access',
  service: 'the service, as it ended the access of the app that it was for',
}

/** What became of one that does not wait any more. */
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

/** To hold and to end it, where there is something to hold or to end. */
export function MandateReins({ c, mandate: { status } }: { c: Visit; mandate: MandateRow }) {
  if (status !== 'active' && status !== 'suspended') {
    return (
      <p>
        <a href={`${pagesBelow}/mandates`}>All mandates</a>
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
