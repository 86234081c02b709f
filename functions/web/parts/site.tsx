/** The site of a login by the name that counts, and how people read it. */
import { readableName } from '../../../shared/mandates/readable-name.ts'

/** What is said of a site in a sentence: its host, and all of the origin where that is not usual. */
export function siteName(origin: string): string {
  return origin.replace(/^https:\/\//, '')
}

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
