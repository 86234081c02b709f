/** A form that a passkey answers: functions/web/client/passkey.ts shows it where a browser can. */
import type { PropsWithChildren } from 'hono/jsx'
import type { Visit } from '../visit.ts'
import { pagesBelow } from '../visit.ts'
import { Button, Form } from './form.tsx'

/** `act` is what the authenticator does; `action` takes its answer, `action`/options asks for one. */
export function PasskeyForm({
  c,
  act,
  action,
  label,
  kind = 'plain',
  next,
  children,
}: PropsWithChildren<{
  c: Visit
  act: 'create' | 'get'
  action: string
  label: string
  kind?: 'main' | 'plain'
  next?: string
}>) {
  return (
    <div data-passkey={act} data-options={`${pagesBelow}${action}/options`} hidden>
      <Form c={c} action={action}>
        <input type="hidden" name="answer" value="" />
        {next !== undefined && <input type="hidden" name="next" value={next} />}
        {children}
        <p class="error" role="alert" hidden />
        <Button kind={kind}>{label}</Button>
      </Form>
    </div>
  )
}
