/** What the service fills in of a form: the user name, and a secret where a field asks for it. */
import { codeField, isFirstStep, passwordField, usernameField } from './fields.ts'
import type { Control, PageForm } from './page-forms.ts'
import type { Placed, Visit } from './visit.ts'

type Fields = Readonly<Record<string, string>>

/** The secret in the one field that asks for it, or a sentence why there is none. */
export function placedIn(
  { used }: Pick<Visit, 'used'>,
  form: PageForm,
  secret: string,
): Placed | { refused: string } {
  const value = used.values.get(secret)
  if (value === undefined) return { refused: 'There is no such secret that a field could take.' }
  const asking = secret === 'password' ? passwordField(form) : codeField(form)
  if (!asking) return { refused: 'The form has no one field that asks for this.' }
  return { asking, value, named: secret.startsWith('mail.') ? 'mail' : secret }
}

/** The field of the user name where a sign-in asks for it, and no field of any other form. */
export function usernameIn({ used }: Pick<Visit, 'used'>, form: PageForm): Control | undefined {
  const isSignIn = passwordField(form) !== undefined || isFirstStep(form)
  return isSignIn && used.username !== '' ? usernameField(form) : undefined
}

/** Of the fields that the agent gives for a sign-in, those of this one of its pages. */
export function knownFields({ controls }: PageForm, fields: Fields): Fields {
  const isKnown = ([name]: [string, string]) => controls.some((control) => control.name === name)
  return Object.fromEntries(Object.entries(fields).filter(isKnown))
}
