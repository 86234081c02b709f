import { webAppPath } from '../visit.ts'
import { Notice } from './show.tsx'

/** Shows on the first page, before everything else, that the account is frozen. */
export function FrozenAccountNotice() {
  return (
    <Notice kind="danger" title="This account is frozen">
      <p>No agent can pay until you unfreeze it. Deposits still arrive.</p>
      <a href={`${webAppPath}/freeze`}>Look at it, and unfreeze</a>
    </Notice>
  )
}

/** Shows beside a request for approval that the account is frozen. */
export function FrozenApprovalNotice() {
  return (
    <Notice kind="warning" title="The account is frozen">
      Nothing can be approved until you <a href={`${webAppPath}/freeze`}>unfreeze it</a>. You can
      decline.
    </Notice>
  )
}

const asked = {
  payments: { one: 'One payment waits', more: 'payments wait', path: '/approvals' },
  mandates: { one: 'One mandate waits', more: 'mandates wait', path: '/mandates' },
}

/** Shows the number of requests that only the owner can decide. */
export function WaitingRequestsNotice({
  kind,
  count,
}: {
  kind: keyof typeof asked
  count: number
}) {
  const { one, more, path } = asked[kind]
  if (count === 0) return null
  return (
    <Notice kind="warning" title={`${count === 1 ? one : `${count} ${more}`} for your approval`}>
      <a href={webAppPath + path}>Review</a>
    </Notice>
  )
}
