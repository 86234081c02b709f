/** The merchant of a mandate by the name that payments are matched with, and as people read it. */
import { readableName } from '../../../shared/mandates/readable-name.ts'
import { Notice } from './show.tsx'

/** Shows the name in ASCII, in which no two names look alike, and the readable form if it differs. */
export function Merchant({ domain }: { domain: string }) {
  const readable = readableName(domain) ?? domain
  return (
    <>
      <code class="long">{domain}</code>
      {readable !== domain && <span class="hint"> reads as “{readable}”</span>}
    </>
  )
}

/** Warns about a name with letters beyond a to z. */
export function ForeignLetters({ domain }: { domain: string }) {
  const readable = readableName(domain) ?? domain
  if (readable === domain) return null
  return (
    <Notice kind="warning" title="This name has letters beyond a to z">
      It reads as “{readable}”, and other names can look the same. What counts is{' '}
      <code class="long">{domain}</code>: compare it with the name that you know.
    </Notice>
  )
}
