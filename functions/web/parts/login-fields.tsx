/**
 * What a login consists of, as forms ask for it. Secrets are never filled in: not by us, and, as
 * fields for something new, not with what the browser keeps for this service.
 */
import { markHidden } from '../../../shared/mail/untrusted.ts'
import type { OwnEntry } from '../data/vault.ts'
import { Area, Checkbox, Field } from './form.tsx'

/** The most characters that are kept of each. */
const usernameMax = 320
const secretMax = 1_024
const notesMax = 4_096

const keeps = 'Empty keeps what is stored.'

export function UsernameField({ value }: { value: string }) {
  return (
    <Field
      name="username"
      label="User name or mail address there"
      value={value}
      autocomplete="off"
      maxlength={usernameMax}
    />
  )
}

/** `kept` is what the entry has already. */
export function SecretFields({ kept }: { kept?: OwnEntry['listed'] }) {
  return (
    <>
      <Field
        name="password"
        label="Password there"
        {...(kept?.has_password ? { hint: keeps } : {})}
        type="password"
        autocomplete="new-password"
        maxlength={secretMax}
      />
      <Field
        name="totp_secret"
        label="Secret of the authenticator app, if there is one"
        hint={`The long text beside the QR code, or its otpauth:// address; not the six digits. ${kept?.has_totp ? keeps : ''}`}
        type="password"
        autocomplete="off"
        maxlength={secretMax}
      />
      {kept?.has_totp && <Checkbox name="drop_totp" label="Take the authenticator secret away" />}
    </>
  )
}

export function FurtherFields({ kept }: { kept?: OwnEntry['listed'] }) {
  return (
    <>
      <Area
        name="fields"
        label="Further secrets"
        hint={`One a line, such as pin: 4711. ${kept ? 'What is not named stays; a name alone takes it away.' : ''}`}
      />
      <Area
        name="notes"
        label="Notes"
        hint={`For you. They are sealed too, and never sent to the site. ${kept ? keeps : ''}`}
        maxlength={notesMax}
      />
      {kept && <Checkbox name="drop_notes" label="Take the notes away" />}
    </>
  )
}

/** A user name as it is shown: whoever has a link may have chosen it. */
export function usernameShown({ username }: { username: string }): string {
  return markHidden(username)
}
