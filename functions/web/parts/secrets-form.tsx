/** Whether an API key reads secrets of the vault, or has them used without seeing them. */
import type { KeyRow } from '../data/keys.ts'
import type { Visit } from '../visit.ts'
import { Button, Form } from './form.tsx'
import { Section } from './show.tsx'

/** A key for stored secrets alone looks at nothing, so it cannot read them either. */
export function SecretsForm({ c, apiKey }: { c: Visit; apiKey: KeyRow }) {
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
