/** Values that the service fills into a form: the user name, and a secret in a field that asks for it. */
import { codeField, isFirstStep, passwordField, usernameField } from './fields.ts'
import type { Control, PageForm } from './page-forms.ts'
import { isForOther, leadsToSignIn } from './purpose.ts'
import type { FilledSecret, Visit } from './visit.ts'

type Fields = Readonly<Record<string, string>>

/** Places a secret in the one field that asks for it, or returns a sentence that says why it cannot. */
export function fillSecret(
  visit: Pick<Visit, 'used' | 'session'>,
  form: PageForm,
  secret: string,
): FilledSecret[] | { refused: string } {
  const value = visit.used.values.get(secret)
  if (value === undefined) return { refused: 'There is no such secret that a field could take.' }
  const isPassword = secret.endsWith('password')
  const found = isPassword ? passwordField(form) : codeField(form)
  if (!found) return { refused: 'The form has no one field that asks for this.' }
  const named = isPassword ? 'password' : secret.startsWith('mail.') ? 'mail' : secret
  const isMeant = isPassword ? signsIn(visit, form) : asksNow(visit, form, found.control)
  return [{ asking: { ...found, isNamedSo: found.isNamedSo && isMeant }, value, named }]
}

/**
 * True if a form signs in with the entry's own user name, beside the password or sent by the service on the
 * page before, or shows again what was sent. Otherwise the site would pair the password with whatever name it
 * was given there.
 */
export function signsIn(visit: Pick<Visit, 'used' | 'session'>, form: PageForm): boolean {
  if (passwordField(form) === undefined) return false
  const { isBehindName, answers } = visit.session.state
  if (isBehindName || answers === form.action) return !isForOther(form)
  return leadsToSignIn(form) && usernameIn(visit, form) !== undefined
}

/** True if a field for a code is empty and its page answers what the service filled in before. */
function asksNow({ session }: Pick<Visit, 'session'>, form: PageForm, { value }: Control): boolean {
  return session.state.answers !== '' && value === '' && !isForOther(form)
}

/** Returns the field for the user name in a form that signs in, and undefined for other forms. */
export function usernameIn({ used }: Pick<Visit, 'used'>, form: PageForm): Control | undefined {
  const isSignIn = passwordField(form) !== undefined || isFirstStep(form)
  return isSignIn && used.username !== '' ? usernameField(form) : undefined
}

/** Returns those of the agent's fields for a sign-in that this page has. */
export function knownFields({ controls }: PageForm, fields: Fields): Fields {
  const isKnown = ([name]: [string, string]) => controls.some((control) => control.name === name)
  return Object.fromEntries(Object.entries(fields).filter(isKnown))
}
