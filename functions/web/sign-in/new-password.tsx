/** The field for a new password; the script `sign-up` shows its strength below. */
import { Field } from '../ui/form.tsx'

const hint = 'At least 10 characters. A few words in a row are strong and easy to remember.'

/** Renders the field with the meter that the script fills. */
export function NewPassword({ error }: { error?: string }) {
  return (
    <>
      <Field
        name="password"
        label="Password"
        hint={hint}
        type="password"
        required
        autocomplete="new-password"
        minlength={10}
        maxlength={256}
        {...(error === undefined ? {} : { error })}
      />
      <p id="password-strength" hidden>
        <meter
          aria-label="Strength of the password"
          min={0}
          max={4}
          low={2}
          high={3}
          optimum={4}
          value={0}
        />{' '}
        <span role="status" />
      </p>
    </>
  )
}
