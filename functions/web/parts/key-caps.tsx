/** The caps of an API key: what is used of them, and the form that changes them. */
import type { KeyRow } from '../data/keys.ts'
import type { Visit } from '../visit.ts'
import { CapFields } from './app-caps.tsx'
import { Button, Form } from './form.tsx'
import { Section } from './show.tsx'
import { Used } from './spent.tsx'

type KeyCapsProps = { c: Visit; apiKey: KeyRow; typed: URLSearchParams | undefined }

export function KeyCaps({ c, apiKey: { caps }, typed }: KeyCapsProps) {
  return (
    <Section title="What it may pay">
      <p>
        No consent passes these caps, not even your own approval. A lower one holds at once. To
        raise one you prove again that it is you.
      </p>
      {caps.daily && <Used id="used-cap" label="Used in the last 24 hours" window={caps.daily} />}
      <Form c={c}>
        <CapFields
          caps={{ each: caps.payment, day: caps.daily && caps.daily.limit }}
          typed={typed}
          isOptional
        />
        <div class="actions">
          <Button kind="plain" name="wanted" value="capped">
            Save
          </Button>
        </div>
      </Form>
    </Section>
  )
}
