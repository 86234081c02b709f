/** Values of an entry for the fields of a form that signs in. */
import type { UsedEntry } from '../inject.ts'
import { codeFieldsIn, type LoginForm, passwordsIn } from './login-form.ts'
import type { Control, PageForm } from './page-forms.ts'

/** A value of the entry for a field of a form; the user name is not a secret. */
export type Filled = { secret: string; control: Control; value: string }

/** Fills in the password at one field, and the user name before it. */
export function loginIn(used: UsedEntry, { password, username }: LoginForm): Filled[] {
  const value = used.values.get('password') ?? ''
  return [...nameIn(used, username), { secret: 'password', control: password, value }]
}

/** Fills in a password that the calling key made, wherever the form has a field for one. */
export function ownLogin(used: UsedEntry, { form, username }: LoginForm): Filled[] {
  return [...nameIn(used, username), ...ownPasswords(used, form)]
}

function nameIn({ username: value }: UsedEntry, control: Control | undefined): Filled[] {
  return control === undefined || value === '' ? [] : [{ secret: 'username', control, value }]
}

/** Fills in a code, or a password that the calling key made; returns nothing if no field asks for it. */
export function filledBy(used: UsedEntry, form: PageForm, secret: string): Filled[] {
  if (secret === 'password') return ownPasswords(used, form)
  const controls = codeFieldsIn(form)?.controls ?? []
  const value = used.values.get(secret)
  const [only, ...boxes] = controls
  if (only === undefined || value === undefined) return []
  if (boxes.length === 0) return [{ secret, control: only, value }]
  // A box for each digit.
  return value.length === controls.length
    ? controls.map((control, at) => ({ secret, control, value: value[at] ?? '' }))
    : []
}

/** Fills a password that the key made into all fields for one, and an earlier one beside a new one. */
function ownPasswords({ values }: UsedEntry, form: PageForm): Filled[] {
  const all = passwordsIn(form)
  const seen = all.filter(({ isHidden }) => !isHidden)
  const fields = seen.length > 0 ? seen : all
  const password = values.get('password')
  const isCurrent = (at: number, marks: string) =>
    marks.includes('current-password') ? fields.length > 1 : fields.length === 3 && at === 0
  return fields.flatMap((control, at): Filled[] => {
    const earlier = isCurrent(at, control.autocomplete)
      ? values.get('previous_password')
      : undefined
    const value = earlier ?? password
    return value === undefined ? [] : [{ secret: 'password', control, value }]
  })
}

/** Returns those of the agent's fields for a sign-in that this page has. */
export function knownIn(
  { controls }: PageForm,
  fields: Readonly<Record<string, string>>,
): Record<string, string> {
  const isKnown = ([name]: [string, string]) => controls.some((control) => control.name === name)
  return Object.fromEntries(Object.entries(fields).filter(isKnown))
}

/** Sentences that say why a form is not filled in. */
export const unfilled = {
  noForm:
    'The page has no form of its own that asks for a user name or password. A form that scripts draw cannot be filled in; try the address of another sign-in page.',
  noSuchForm: 'The page that was served last has no such form.',
  noField: 'The form has no one field that asks for this.',
  noPassword: 'The entry has no password.',
  ownersPassword:
    'A password that the owner entered goes only into a sign-in that begins with vault_login.',
}
