/** The widget of Cloudflare Turnstile in a form; its script adds the field with the token. */
import { challengeOrigin } from '../../../shared/onboarding/challenge.ts'
import { Notice } from './show.tsx'

/** Renders the widget. The page must allow the origin of its script and frame (headers.ts). */
export function Challenge({ siteKey }: { siteKey: string }) {
  return (
    <>
      <noscript>
        <Notice kind="warning" title="Scripts are needed here">
          A check that you are not a program runs in your browser.
        </Notice>
      </noscript>
      <div class="cf-turnstile" data-sitekey={siteKey} />
      <script src={`${challengeOrigin}/turnstile/v0/api.js`} async defer />
    </>
  )
}
