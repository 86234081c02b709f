import { nav } from '../nav.ts'
import { pagesBelow } from '../visit.ts'
import { Notice } from './show.tsx'

/** On every page that a frozen account could surprise. */
export function Frozen() {
  return (
    <Notice kind="danger" title="This account is frozen">
      No payment leaves it and no agent can spend until you unfreeze it. Deposits still arrive.
    </Notice>
  )
}

/** What only the owner can decide. */
export function Waiting({ count }: { count: number }) {
  if (count === 0) return null
  const what = count === 1 ? 'One payment waits' : `${count} payments wait`
  const page = nav.find(({ path }) => path === '/approvals')
  return (
    <Notice kind="warning" title={`${what} to be confirmed`}>
      {page && <a href={pagesBelow + page.path}>Look at {count === 1 ? 'it' : 'them'}</a>}
    </Notice>
  )
}
