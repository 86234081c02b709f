/** A form that a passkey answers. functions/web/client/passkey.ts shows it if the browser can. */
import type { PropsWithChildren } from 'hono/jsx'
import { challengeOrigin } from '../../../shared/onboarding/challenge.ts'
import { drawCode } from '../qr-code.ts'
import { type PageContext, webAppPath } from '../visit.ts'
import { Button, Form } from './form.tsx'
import { Notice } from './show.tsx'

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

/** Renders the widget. The page must allow the origin of its script and frame (frame.ts). */
export function Challenge({ siteKey }: { siteKey: string }) {
  return (
    <>
      <noscript>
        <Notice kind="warning" title="JavaScript is needed here">
          The check that you are not a program runs in your browser.
        </Notice>
      </noscript>
      <div class="cf-turnstile" data-sitekey={siteKey} />
      <script src={`${challengeOrigin}/turnstile/v0/api.js`} async defer />
    </>
  )
}

/** Draws a code; `label` says what it contains, which the page also shows as text. */
export function Qr({ text, label }: { text: string; label: string }) {
  const { size, path } = drawCode(text)
  return (
    <svg class="qr" viewBox={`0 0 ${size} ${size}`} role="img" aria-label={label}>
      <rect width={size} height={size} fill="#fff" />
      <path d={path} fill="#000" shape-rendering="crispEdges" />
    </svg>
  )
}
