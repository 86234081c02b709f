import { webAppPath } from '../visit.ts'
import { Facts, Notice } from './show.tsx'

/** Shows on the first page, before everything else, that the account is frozen. */
export function FrozenAccountNotice() {
  return (
    <Notice kind="danger" title="This account is frozen">
      <p>No agent can pay until you unfreeze it. Deposits still arrive.</p>
      <a href={`${webAppPath}/freeze`}>Review and unfreeze</a>
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
  payments: { one: 'One payment is waiting', more: 'payments are waiting', path: '/approvals' },
  mandates: { one: 'One mandate is waiting', more: 'mandates are waiting', path: '/mandates' },
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

/** Warns about the address and shows where it differs from the known one. */
export function LookalikeWarning({ known, imitating }: { known: string; imitating: string }) {
  return (
    <Notice kind="danger" title="This address imitates one that you trust">
      <p>
        It begins and ends like one of your recipients, but it is a different address. This is how
        money is diverted. Do not approve it unless you know why.
      </p>
      <Facts
        facts={[
          ['You trust', <Compared value={known} other={imitating} />],
          ['This one', <Compared value={imitating} other={known} />],
        ]}
      />
    </Notice>
  )
}

/** Shows an address in groups of four and marks the groups that differ from another address. */
function Compared({ value, other }: { value: string; other: string }) {
  const groups = (address: string) => address.replace(/^0x/, '').match(/.{1,4}/g) ?? []
  const others = groups(other)
  return (
    <code class="address">
      <span>0x</span>
      {groups(value).map((group, at) => (
        <span>
          {group.toLowerCase() === others[at]?.toLowerCase() ? group : <mark>{group}</mark>}
        </span>
      ))}
    </code>
  )
}

type RequesterRow = {
  /** Name of the key or app; null for the owner. */
  title: string | null
  calls_itself: string | null
  device: string
  device_known: boolean
}

/** Returns the facts; the name that an app gave itself is a fact of its own. */
export function requesterFacts(asked: RequesterRow): (readonly [name: string, value: string])[] {
  if (asked.title === null) return [['Entered by', 'You']]
  return [
    ['Requested by', asked.title],
    ...(asked.calls_itself === null ? [] : [['It calls itself', asked.calls_itself] as const]),
    ['Device', `${asked.device}, ${asked.device_known ? 'trusted' : 'new'}`],
  ]
}
