/** An answer of a site as the agent is shown it, before secrets are removed from it. */
import type { Browsed } from './browse.ts'
import { withoutSession } from './session-tokens.ts'

/** Adds the address as a header, which is scrubbed (RFC 9110 section 8.7), and removes cookies. */
export function withAddress({ fetched, url }: Browsed): Browsed['fetched'] {
  if (fetched.kind !== 'answered' && fetched.kind !== 'redirected') return fetched
  const headers = new Headers(fetched.headers)
  headers.delete('set-cookie')
  headers.set('content-location', withoutSession(url.href))
  const location = headers.get('location')
  if (location !== null) headers.set('location', withoutSession(location))
  return { ...fetched, headers }
}

/** Returns the parts of an answer that contain addresses. */
export function textsOf(fetched: Browsed['fetched']): string[] {
  if (fetched.kind !== 'answered' && fetched.kind !== 'redirected') return []
  const body = fetched.kind === 'answered' ? new TextDecoder('latin1').decode(fetched.body) : ''
  return [body, ...fetched.headers.values()]
}
