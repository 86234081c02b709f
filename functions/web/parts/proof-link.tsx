import type { Visit } from '../visit.ts'
import { LinkButton } from './form.tsx'

/** The way to a proof and back to this page. */
export function ProofLink({ c, label }: { c: Visit; label: string }) {
  return (
    <p class="actions">
      <LinkButton to={`/proof?next=${encodeURIComponent(c.req.path)}`}>{label}</LinkButton>
    </p>
  )
}
