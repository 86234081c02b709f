import type { PropsWithChildren } from 'hono/jsx'
import type { Visit } from '../visit.ts'
import { Button, Form, LinkButton } from './form.tsx'
import { Section } from './show.tsx'

/**
 * The second step of what cannot be taken back: its own page says what will happen, and only there is
 * the button that does it.
 */
export function Confirm({
  c,
  title,
  action,
  verb,
  back,
  fields = {},
  kind = 'danger',
  children,
}: PropsWithChildren<{
  c: Visit
  title: string
  /** Path below the app that takes the form; this page's own when absent. */
  action?: string
  /** What the button says: the deed, never "OK". */
  verb: string
  back: string
  fields?: Record<string, string>
  kind?: 'main' | 'danger'
}>) {
  return (
    <Section title={title}>
      {children}
      <Form c={c} {...(action === undefined ? {} : { action })}>
        {Object.entries(fields).map(([name, value]) => (
          <input type="hidden" name={name} value={value} />
        ))}
        <div class="actions">
          <Button kind={kind}>{verb}</Button>
          <LinkButton to={back}>Go back</LinkButton>
        </div>
      </Form>
    </Section>
  )
}
