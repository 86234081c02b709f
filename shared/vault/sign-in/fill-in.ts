/** What the service fills in of a form: the user name, and a secret where a field asks for it. */
import type { PasswordChange } from './fields.ts'
import { codeField, isFirstStep, passwordField, usernameField } from './fields.ts'
import type { Control, PageForm } from './page-forms.ts'
import { isForOther, leadsToSignIn } from './purpose.ts'
import type { Placed, Visit } from './visit.ts'

type Fields = Readonly<Record<string, string>>

/** The secret in the one field that asks for it, or a sentence why there is none. */
export function placedIn(
  visit: Pick<Visit, 'used' | 'session'>,
  form: PageForm,
  secret: string,
): Placed[] | { refused: string } {
  const value = visit.used.values.get(secret)
  if (value === undefined) return { refused: 'There is no such secret that a field could take.' }
  const isPassword = secret.endsWith('password')
  const found = isPassword ? passwordField(form) : codeField(form)
  if (!found) return { refused: 'The form has no one field that asks for this.' }
  const named = isPassword ? 'password' : secret.startsWith('mail.') ? 'mail' : secret
  const isMeant = isPassword ? signsIn(visit, form) : !isForOther(form)
  return [{ asking: { ...found, isNamedSo: found.isNamedSo && isMeant }, value, named }]
}

/**
 * Whether a form signs in with the entry's own user name: beside the password, or sent by the service on
 * the page before, as the site would take the password for whatever name it was told there.
 */
export function signsIn(visit: Pick<Visit, 'used' | 'session'>, form: PageForm): boolean {
  if (passwordField(form) === undefined) return false
  if (visit.session.state.isBehindName) return !isForOther(form)
  return leadsToSignIn(form) && usernameIn(visit, form) !== undefined
}

/** The present password and the new one in the fields of a form that changes it. */
export function placedInChange(
  { used }: Pick<Visit, 'used'>,
  { current, fresh }: PasswordChange,
  password: string,
): Placed[] | { refused: string } {
  const name = fresh.map((control) => control.name).join(' + ')
  const taking = fresh.map((control): Placed => {
    const asking = { control, isNamedSo: false }
    return { asking, value: password, named: 'new_password', name }
  })
  if (!current) return taking
  const value = used.values.get('password')
  if (value === undefined) return { refused: 'The form asks for a password that is not known.' }
  return [{ asking: current, value, named: 'password' }, ...taking]
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
