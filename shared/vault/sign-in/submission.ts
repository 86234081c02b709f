/**
 * The request that sends a served form: its own values, the agent's fields, and the service's own. The agent
 * sets what a user could type or choose, and in a sign-in the boxes alone.
 */
import { normalUrl } from '../destinations/path.ts'
import type { Control, PageForm } from './page-forms.ts'

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
