/** The form with which the owner consents to what the page shows. */
import type { Child, PropsWithChildren } from 'hono/jsx'
import { consentOptions } from '../../../shared/auth/passkey.ts'
import { Button, Field, Form } from '../ui/form.tsx'
import { Notice } from '../ui/show.tsx'
import { type PageContext, webAppPath } from '../visit.ts'
import type { ConsentProblem, Passkeys } from './consent-data.ts'

/** Characters that the owner may write about a decline. */
export const reasonCharactersMax = 280

/**
 * Renders the form. With a passkey the browser signs the digest of the form, and
 * functions/web/client/passkey.ts shows the button. So one value is shown, sent and signed: the one in
 * `digests` for the ticked boxes of `ticks`, of which none is ticked at first. `children`: other buttons.
 */
export function ApprovalForm({
  c,
  action,
  digests,
  passkeys,
  label,
  asker,
  ticks,
  children,
}: PropsWithChildren<{
  c: PageContext
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
          Approving with your passkey needs a browser with JavaScript and passkeys. Everything else
          here works without them.
        </p>
      )}
      {ticks}
      <p class="error" role="alert" data-otherwise={otherwise} hidden />
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

/** Takes a reason, which the agent is told with a decline. */
export function DeclineReason() {
  return (
    <details>
      <summary>Decline with a reason</summary>
      <Field
        name="reason"
        label="Reason, sent to the agent"
        maxlength={reasonCharactersMax}
        autocomplete="off"
      />
    </details>
  )
}

/** Renders the button that declines, beside the one that approves. */
export function DeclineButton({ label = 'Decline' }: { label?: string }) {
  return (
    <Button kind="plain" name="decision" value="declined">
      {label}
    </Button>
  )
}

const otherwise =
  'Try again, or use another browser or device that holds a passkey of the account. If all are lost, ' +
  'sign in with a recovery code.'

/** Returns the attributes for the page's script: the options, and the challenge of each choice. */
function optionsIn(c: PageContext, digests: Record<string, string>, passkeys: Passkeys) {
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

/** Shows the digest that the consent is bound to, for anybody who wants to compare it. */
export function Digest({ value }: { value: string }) {
  return (
    <details>
      <summary>What your approval is bound to</summary>
      <p class="hint">
        The SHA-256 hash of exactly these terms. The receipt of your approval contains it. What you
        tick is part of the terms, so a different choice has a different hash.
      </p>
      <code class="long">{value}</code>
    </details>
  )
}

/** Links to the receipt of an approval; `of` is the path of the page of what was approved. */
export function ReceiptLink({ of }: { of: string }) {
  return (
    <p>
      <a href={`${webAppPath}${of}/receipt`} download>
        Download the receipt of your approval
      </a>
    </p>
  )
}

/** Shows why a consent was not entered. */
export function ConsentProblemNotice({ why }: { why: ConsentProblem | undefined }) {
  if (why === undefined) return null
  return (
    <Notice kind="danger" title="Nothing was approved">
      {words[why]}
    </Notice>
  )
}

const words: Record<ConsentProblem, string> = {
  answer: 'The passkey did not confirm these terms. Try again with a passkey of this account.',
  changed: 'The request has changed. Review it again as it is now.',
  closed: 'It has already been decided or closed.',
}
