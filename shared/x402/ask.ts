/**
 * Asks a resource what it wants to be paid, and says why there is nothing to pay when it asks for
 * nothing.
 */
import { fail } from '../contract/errors.ts'
import type { Outside } from '../egress/safe-fetch.ts'
import { askingOf, fetchUnpaid } from './delivery.ts'
import { readDemand } from './demand.ts'
import type { FrozenRequest } from './request.ts'

/** What the resource asks for now, or why it asks for nothing. */
export async function askDemand(world: Outside, request: FrozenRequest, now: Date) {
  const fetched = await fetchUnpaid(world, request)
  switch (fetched.kind) {
    case 'refused':
      return fail('resource_refused', { message: fetched.reason })
    case 'timeout':
      return fail('resource_unavailable', { message: 'The resource did not answer in time.' })
    case 'unreachable':
      return fail('resource_unavailable', { log: fetched.reason })
    case 'redirected':
      return fail('resource_unavailable', {
        message: `The resource redirects to ${(fetched.location ?? 'nowhere').slice(0, 200)}.`,
        hint: 'Prepare the payment with the address that it leads to, if you trust it.',
      })
    case 'answered':
      if (fetched.status === 402) return readDemand(askingOf(fetched), request, now)
      return fail('no_payment_required', { details: { status: fetched.status } })
  }
}
