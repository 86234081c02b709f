import { pagesBelow } from '../visit.ts'
import { Notice } from './show.tsx'

/** Before everything else on the first page of an account that is frozen. */
export function Frozen() {
  return (
    <Notice kind="danger" title="This account is frozen">
      <p>No agent can pay until you unfreeze it. Deposits still arrive.</p>
      <a href={`${pagesBelow}/freeze`}>Look at it, and unfreeze</a>
    </Notice>
  )
}

/** Where the owner is asked for an approval of an account that is frozen. */
export function FrozenNotice() {
  return (
    <Notice kind="warning" title="The account is frozen">
      Nothing can be approved until you <a href={`${pagesBelow}/freeze`}>unfreeze it</a>. You can
      decline.
    </Notice>
  )
}

const asked = {
  payments: { one: 'One payment waits', more: 'payments wait', path: '/approvals' },
  mandates: { one: 'One mandate waits', more: 'mandates wait', path: '/mandates' },
}

/** What only the owner can decide. */
export function Waiting({ kind, count }: { kind: keyof typeof asked; count: number }) {
  const { one, more, path } = asked[kind]
  if (count === 0) return null
  return (
    <Notice kind="warning" title={`${count === 1 ? one : `${count} ${more}`} for your approval`}>
      <a href={pagesBelow + path}>Look and decide</a>
    </Notice>
  )
}
