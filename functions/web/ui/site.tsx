/** The site of a login by its exact name, and as people read it. */
import { readableName } from '../../../shared/mandates/readable-name.ts'

/** Returns the name of a site for a sentence: the host, or the whole origin if it is not https. */
export function siteName(origin: string): string {
  return origin.replace(/^https:\/\//, '')
}

/** Shows the exact name, and the readable form if it differs. */
export function Site({ origin }: { origin: string }) {
  const { hostname } = new URL(origin)
  const readable = readableName(hostname) ?? hostname
  return (
    <>
      <code class="long">{siteName(origin)}</code>
      {readable !== hostname && <span class="hint"> reads as “{readable}”</span>}
    </>
  )
}
