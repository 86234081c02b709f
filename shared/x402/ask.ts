/** Asks a resource for its payment terms without paying, and turns every other answer into a refusal. */
import { fail } from '../contract/errors.ts'
import type { Outside } from '../egress/safe-fetch.ts'
import { untrusted } from '../text/untrusted.ts'
import type { FrozenRequest } from './challenge.ts'
import { fetchUnpaid, paymentRequiredOf } from './delivery.ts'
import { readOfferedTerms } from './offers.ts'

const locationLengthMax = 2_048

/** Returns what the resource asks for now, or the reason why there is nothing to pay. */
export async function fetchOfferedTerms(world: Outside, request: FrozenRequest, now: Date) {
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
      if (fetched.status === 402) return readOfferedTerms(paymentRequiredOf(fetched), request, now)
      return fail('no_payment_required', { details: { status: fetched.status } })
  }
}

/** Returns the target of a redirect as an absolute URL; nothing if it is not a valid URL. */
function redirectDetails({ url }: FrozenRequest, location: string | null) {
  const target = location === null ? null : URL.parse(location, url)
  if (!target) return {}
  return { untrusted: untrusted({ from: new URL(url).host, text: target.href }, locationLengthMax) }
}
