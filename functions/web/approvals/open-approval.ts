/** The payment that the address of a page names. */
import { fail, Rejection } from '../../../shared/contract/errors.ts'
import { requireOwner } from '../frame.ts'
import type { PageContext } from '../visit.ts'
import { type OpenedApproval, openApprovals } from './approvals-data.ts'

/** Reads the payment of the address. One of another account answers exactly as a missing one. */
export async function openApproval(c: PageContext): Promise<OpenedApproval> {
  const [opened] = await openApprovals(await requireOwner(c), [c.req.param('payment') ?? ''])
  if (opened) return opened
  const message = 'This account has no such request. A link works only in the account it is for.'
  throw new Rejection(fail('payment_not_found', { message }))
}
