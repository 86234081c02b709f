/** The form that lets an API key read secrets of the vault, or only have them used. */

import { Button, Form } from '../ui/form.tsx'
import { Section } from '../ui/show.tsx'
import type { PageContext } from '../visit.ts'
import type { KeyRow } from './keys-data.ts'

/** Renders the form, except for a key with the scope `vault` alone, which reads nothing. */
export function SecretsForm({ c, apiKey }: { c: PageContext; apiKey: KeyRow }) {
  const { scopes, reads_secrets: reads } = apiKey
  if (scopes.every((scope) => scope === 'vault')) return null
  return (
    <Section title="Secrets of the vault">
      <p>
        {reads
          ? 'This key reads the secrets of your logins. Whatever the agent is told can then end up with others.'
          : 'This key has the secrets of your logins used, and never sees them. That is the safe way.'}
      </p>
      <Form c={c}>
        <div class="actions">
          <Button kind={reads ? 'plain' : 'danger'} name="wanted" value={reads ? 'uses' : 'reads'}>
            {reads ? 'No longer let it read them' : 'Let it read them'}
          </Button>
        </div>
      </Form>
    </Section>
  )
}
