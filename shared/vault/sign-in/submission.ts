/**
 * The request that sends a served form: its own values, the agent's fields, and the service's own. The agent
 * sets what a user could type or choose, and in a sign-in the boxes alone.
 */
import { normalUrl } from '../destinations/path.ts'
import type { UsedEntry } from '../inject.ts'
import { type Control, codeFieldsIn, type LoginForm, type PageForm, passwordsIn } from './forms.ts'

/** A form to send; secrets stand only in its body. */
export type Submission = { url: URL; method: 'GET' | 'POST'; body?: string }

/** Values to fill into a form: the agent's fields by their names, and the service's own. */
export type Filling = {
  fields: Readonly<Record<string, string>>
  own: readonly { control: Control; value: string }[]
  /** True if the agent may only tick boxes. */
  isSignIn: boolean
}

type Refused = { refused: string }

/** Returns the request that a browser would make, or a sentence that says why none is made. */
export function submissionOf(
  origin: string,
  form: PageForm,
  filling: Filling,
): Submission | Refused {
  if (!URL.canParse(form.action)) return { refused: 'The form leads nowhere.' }
  const action = new URL(form.action)
  const url = filling.own.length > 0 ? normalUrl(action) : action
  if (url.origin !== origin) return { refused: 'The form leads to another site than the entry.' }
  if (form.method !== 'post' && (form.method !== 'get' || filling.own.length > 0)) {
    return { refused: 'The form is not sent by POST.' }
  }
  if (form.enctype !== '' && form.enctype !== 'application/x-www-form-urlencoded') {
    return { refused: 'The form is sent in a way that only files or mails need.' }
  }
  const foreign = Object.keys(filling.fields).find((name) => !isGivable(form, filling, name))
  if (foreign !== undefined) return { refused: 'The form has no such field to fill in.' }
  const body = new URLSearchParams(pairsOf(form, filling)).toString()
  url.hash = ''
  if (form.method === 'post') return { url, method: 'POST', body }
  url.search = body
  return { url, method: 'GET' }
}

function isGivable(
  { controls }: PageForm,
  { fields, own, isSignIn }: Filling,
  name: string,
): boolean {
  const named = controls.filter((control) => control.name === name)
  const isFree = (control: Control) =>
    takes(control, fields[name] ?? '') &&
    !own.some((one) => one.control === control) &&
    (control.type === 'checkbox' || !isSignIn)
  return named.length > 0 && named.every(isFree)
}

function takes({ type, isReadOnly, options }: Control, value: string): boolean {
  return type === 'select' ? options.includes(value) : !isReadOnly
}

function pairsOf({ controls }: PageForm, filling: Filling): [string, string][] {
  const { fields, own } = filling
  const buttons = controls.filter(({ type }) => type === 'submit')
  const pressed = buttons.find((button) => fields[button.name] === button.value) ?? buttons[0]
  return controls.flatMap((control): [string, string][] => {
    const { name, type, value, isSent } = control
    const filled = own.find((one) => one.control === control)
    if (filled) return [[name, filled.value]]
    const given = fields[name]
    if (type === 'submit') return control === pressed ? [[name, value]] : []
    if (type === 'checkbox' || type === 'radio') {
      return (given === undefined ? isSent : given === value) ? [[name, value]] : []
    }
    return given !== undefined || isSent ? [[name, given ?? value]] : []
  })
}

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
