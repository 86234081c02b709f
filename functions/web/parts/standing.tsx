import { nav } from '../nav.ts'
import { pagesBelow } from '../visit.ts'
import { LinkButton } from './form.tsx'
import { Notice, Section } from './show.tsx'

/** Before everything else on the first page of an account that is frozen. */
export function Frozen() {
  return (
    <Notice kind="danger" title="This account is frozen">
      <p>No agent can pay until you unfreeze it. Deposits still arrive.</p>
      {has('/freeze') && <a href={`${pagesBelow}/freeze`}>Unfreeze</a>}
    </Notice>
  )
}

/** The switch for the worst day, where the eye finds it. */
export function FreezeSwitch() {
  if (!has('/freeze')) return null
  return (
    <Section title="Something wrong?">
      <p>Freezing stops every payment at once, whatever key it comes from.</p>
      <div class="actions">
        <LinkButton to="/freeze" kind="danger">
          Freeze the account
        </LinkButton>
      </div>
    </Section>
  )
}

/** What only the owner can decide. */
export function Waiting({ count }: { count: number }) {
  if (count === 0) return null
  const what = count === 1 ? 'One payment waits' : `${count} payments wait`
  return (
    <Notice kind="warning" title={`${what} to be confirmed`}>
      {has('/approvals') && (
        <a href={`${pagesBelow}/approvals`}>{count === 1 ? 'Look at it' : 'Look at them'}</a>
      )}
    </Notice>
  )
}

function has(wanted: string): boolean {
  return nav.some(({ path }) => path === wanted)
}
