/** Parts of the page of a registration link, besides its form. */
import { Page } from '../layout.tsx'
import { Field, LinkButton } from '../ui/form.tsx'
import type { PageContext } from '../visit.ts'

/** Shows what the owner agrees to by opening the account. */
export function AccountTerms() {
  return (
    <section>
      <h2>What you agree to</h2>
      <p>
        <strong>The key of the wallet</strong> is held by the service, which signs what the limits
        of your account allow. What was paid cannot be called back.
      </p>
      <p>
        <strong>Spending</strong> begins with up to 200 USD in 24 hours that your agent pays by
        itself, to recipients and from devices that you made known. When it says that you agreed, it
        pays as much again, of which 10 USD to each new recipient. You approve everything else, and
        never more than 1,000 USD leave in 24 hours. You can change all of this under Limits.
      </p>
      <p>
        <strong>Stopping</strong> takes one click or one call: you and your agent can freeze
        everything at once. Only you can unfreeze it.
      </p>
      <p>
        <strong>Coming back</strong> takes your mail address and password. Keep the password to
        yourself: no agent needs it.
      </p>
    </section>
  )
}

const aliasHint =
  '3 to 32 letters, digits and hyphens, beginning with a letter. It cannot be changed later.'

/** Renders the field for the alias; the script `sign-up` shows below it if the alias is free. */
export function AliasField({ c, value, error }: { c: PageContext; value: string; error?: string }) {
  return (
    <>
      <Field
        name="alias"
        label="Alias"
        hint={aliasHint}
        value={value}
        unit={`@${c.get('world').config.MAIL_DOMAIN}`}
        required
        autocomplete="off"
        minlength={3}
        maxlength={32}
        {...(error === undefined ? {} : { error })}
      />
      <p class="hint" id="alias-standing" role="status" />
    </>
  )
}

/** Shows that a link was used, has expired, or never existed. */
export function LinkClosed({ c }: { c: PageContext }) {
  return (
    <Page c={c} title="This link is closed" lead="A registration link works once, for 30 minutes.">
      <p>
        If you have just used it, your account is open: sign in, and make an API key there if you
        did not keep the first one. Otherwise begin again with a new code.
      </p>
      <p class="actions">
        <LinkButton kind="main" to="/login">
          Sign in
        </LinkButton>
        <LinkButton to="/join">Begin again</LinkButton>
      </p>
    </Page>
  )
}
