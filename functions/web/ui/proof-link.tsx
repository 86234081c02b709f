import type { PageContext } from '../visit.ts'
import { LinkButton } from './form.tsx'

/** Links to the page for a proof, which leads back to this page. */
export function ProofLink({ c, label }: { c: PageContext; label: string }) {
  return (
    <p class="actions">
      <LinkButton to={`/proof?next=${encodeURIComponent(c.req.path)}`}>{label}</LinkButton>
    </p>
  )
}
