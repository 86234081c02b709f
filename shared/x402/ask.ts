/**
 * Asks a resource what it wants to be paid, and says why there is nothing to pay when it asks for
 * nothing.
 */
import { fail } from '../contract/errors.ts'
import type { Outside } from '../egress/safe-fetch.ts'
import { untrusted } from '../mail/untrusted.ts'
import { askingOf, fetchUnpaid } from './delivery.ts'
import { readDemand } from './demand.ts'
import type { FrozenRequest } from './request.ts'

const locationLengthMax = 2_048

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
        message: 'The resource redirects, which is not followed.',
        hint: 'Prepare the payment with the address in details.untrusted, if your user trusts it.',
        details: redirectDetails(request, fetched.location),
      })
    case 'answered':
      if (fetched.status === 402) return readDemand(askingOf(fetched), request, now)
      return fail('no_payment_required', { details: { status: fetched.status } })
  }
}

/** Where a redirect leads, in the form that would be called; nothing where that is no address. */
function redirectDetails({ url }: FrozenRequest, location: string | null) {
  const target = location === null ? null : URL.parse(location, url)
  if (!target) return {}
  return { untrusted: untrusted({ from: new URL(url).host, text: target.href }, locationLengthMax) }
}
