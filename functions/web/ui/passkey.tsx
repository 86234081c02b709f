/** A form that a passkey answers. functions/web/client/passkey.ts shows it if the browser can. */
import type { PropsWithChildren } from 'hono/jsx'
import { type PageContext, webAppPath } from '../visit.ts'
import { Button, Form } from './form.tsx'

/** Renders the form. `act` is the authenticator's task; `action`/options begins it, `action` ends it. */
export function PasskeyForm({
  c,
  act,
  action,
  label,
  kind = 'plain',
  next,
  otherwise,
  children,
}: PropsWithChildren<{
  c: PageContext
  act: 'create' | 'get'
  action: string
  label: string
  kind?: 'main' | 'plain'
  next?: string
  /** Sentence that says what else there is if the passkey fails. */
  otherwise: string
}>) {
  return (
    <div data-passkey={act} data-options={`${webAppPath}${action}/options`} hidden>
      <Form c={c} action={action}>
        <input type="hidden" name="answer" value="" />
        {next !== undefined && <input type="hidden" name="next" value={next} />}
        {children}
        <p class="error" role="alert" data-otherwise={otherwise} hidden />
        <Button kind={kind}>{label}</Button>
      </Form>
    </div>
  )
}
