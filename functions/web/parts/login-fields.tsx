/** What a login consists of, as forms ask for it. */
import { Field } from './form.tsx'

/** The most characters that are kept of each. */
const secretMax = 1_024
export const usernameMax = 320

export function UsernameField({ value }: { value: string }) {
  return (
    <Field
      name="username"
      label="User name or mail address there"
      value={value}
      required
      autocomplete="off"
      maxlength={usernameMax}
    />
  )
}

/**
 * Never filled in: not by us, and, as a field for a new password, not with what the browser keeps for
 * this service.
 */
export function SecretFields({ kept = false }: { kept?: boolean }) {
  const keeps = kept ? ' Leave it empty to keep what is stored.' : ''
  return (
    <>
      <Field
        name="password"
        label="Password there"
        {...(kept ? { hint: keeps.trim() } : {})}
        type="password"
        autocomplete="new-password"
        maxlength={secretMax}
      />
      <Field
        name="totp_secret"
        label="Secret of the authenticator app, if there is one"
        hint={`The long text beside the QR code, or its otpauth:// address; not the six digits.${keeps}`}
        type="password"
        autocomplete="off"
        maxlength={secretMax}
      />
    </>
  )
}
