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

/** What only the owner can decide. */
export function Waiting({ count }: { count: number }) {
  if (count === 0) return null
  const what = count === 1 ? 'One payment waits' : `${count} payments wait`
  return (
    <Notice kind="warning" title={`${what} for your approval`}>
      <a href={`${pagesBelow}/approvals`}>Look and decide</a>
    </Notice>
  )
}
