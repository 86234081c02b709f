/** The form by which the owner consents to what the page shows. */
import type { Child, PropsWithChildren } from 'hono/jsx'
import { consentOptions } from '../../../shared/auth/passkey-options.ts'
import type { Passkeys, Unheard } from '../data/consent.ts'
import type { Visit } from '../visit.ts'
import { pagesBelow } from '../visit.ts'
import { Button, Form } from './form.tsx'
import { Notice } from './show.tsx'

/**
 * With a passkey the browser signs the digest that the form carries (functions/web/client/passkey.ts
 * shows the button), so what is shown, sent and signed is one value: that of `digests` for the boxes
 * among `ticks` that are ticked, of which none is at first. `children` are other ways out.
 */
export function ConsentForm({
  c,
  action,
  digests,
  passkeys,
  label,
  asker,
  ticks,
  children,
}: PropsWithChildren<{
  c: Visit
  action?: string
  digests: Record<string, string>
  passkeys: Passkeys
  label: string
  asker?: string
  ticks?: Child
}>) {
  const isByPasskey = passkeys.length > 0
  const digest = digests[''] ?? ''
  const byPasskey = isByPasskey ? optionsIn(c, digests, passkeys) : {}
  const target = action === undefined ? {} : { action }
  return (
    <Form c={c} {...target} {...byPasskey}>
      <input type="hidden" name="digest" value={digest} />
      {asker !== undefined && <input type="hidden" name="asker" value={asker} />}
      {isByPasskey && <input type="hidden" name="answer" value="" />}
      {isByPasskey && (
        <p class="hint" data-unable="">
          You approve with your passkey, and that needs a browser with JavaScript and passkeys.
          Everything else here works without.
        </p>
      )}
      {ticks}
      <p class="error" role="alert" hidden />
      <div class="actions">
        <Button
          name="decision"
          value="approved"
          hidden={isByPasskey}
          {...(!isByPasskey && { 'data-considered': '' })}
        >
          {isByPasskey ? `${label} with your passkey` : label}
        </Button>
        {children}
      </div>
    </Form>
  )
}

/** What the script of the page works from: the options, and the challenge of each choice. */
function optionsIn(c: Visit, digests: Record<string, string>, passkeys: Passkeys) {
  const optionsFor = (digest: string) => consentOptions(c.get('world'), digest, passkeys)
  const challenges = new URLSearchParams()
  for (const [ticked, digest] of Object.entries(digests)) {
    challenges.set(ticked, optionsFor(digest).challenge)
  }
  return {
    'data-consent': JSON.stringify(optionsFor(digests[''] ?? '')),
    'data-challenges': challenges.toString(),
  } as const
}

/** What the consent is bound to, for whoever wants to compare it. */
export function Digest({ value }: { value: string }) {
  return (
    <details>
      <summary>What your approval is bound to</summary>
      <p class="hint">
        The SHA-256 of exactly these terms. A receipt of your approval names it, and other terms, of
        which what you tick is a part, have another one.
      </p>
      <code class="long">{value}</code>
    </details>
  )
}

/** Where the receipt of an approval is; `of` is the page of what was approved. */
export function ReceiptLink({ of }: { of: string }) {
  return (
    <p>
      <a href={`${pagesBelow}${of}/receipt`} download>
        Download the receipt of your approval
      </a>
    </p>
  )
}

export function NotHeard({ why }: { why: Unheard | undefined }) {
  if (why === undefined) return null
  return (
    <Notice kind="danger" title="Nothing was approved">
      {words[why]}
    </Notice>
  )
}

const words: Record<Unheard, string> = {
  answer:
    'The passkey’s answer was not good for these terms. Try again with a passkey of this account.',
  changed: 'What was asked changed meanwhile. Look at it again as it is now.',
  closed: 'It was decided or closed meanwhile.',
}
