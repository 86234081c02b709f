/**
 * Fields of a login. Secrets are never filled in: not by us, and not by the browser with what it stores
 * for this service, because the fields are declared as new.
 */
import { markHidden } from '../../../shared/text/untrusted.ts'
import { Area, Checkbox, Field } from '../ui/form.tsx'
import type { OwnerEntry } from './vault-data.ts'

/** Number of characters stored of each field at most. */
const usernameMax = 320
const secretMax = 1_024
const notesMax = 4_096

const keeps = 'Empty keeps what is stored.'

/** Renders the field for the user name. */
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

/** Renders the fields for password and TOTP secret; `kept` is the entry that a form changes. */
export function SecretFields({ kept }: { kept?: OwnerEntry['listed'] }) {
  return (
    <>
      <Field
        name="password"
        label="Password there"
        hint={kept?.has_password ? keeps : 'Empty where the site mails a code or a link instead.'}
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

/** Renders the fields for further secrets and notes. */
export function FurtherFields({ kept }: { kept?: OwnerEntry['listed'] }) {
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

/** Returns a user name with hidden characters marked: anybody with a link may have chosen it. */
export function usernameShown({ username }: { username: string }): string {
  return markHidden(username)
}
