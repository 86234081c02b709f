/**
 * The request that sends a served form: its own values, the agent's fields, and a secret in the field that
 * asks for it. The agent can set only what a user could type or choose; beside a secret, and in the first
 * step of a sign-in, only what a user could choose.
 */
import { normalUrl } from '../places/path.ts'
import type { Control, PageForm } from './page-forms.ts'

/** A form to send; secrets stand only in its body. */
export type Submission = { url: URL; method: 'GET' | 'POST'; body?: string }

/** Values to fill into a form: the agent's fields by their names, and the service's own. */
export type Filling = {
  fields: Readonly<Record<string, string>>
  username?: { control: Control; value: string } | undefined
  secrets: readonly { control: Control; value: string }[]
  /** True if the form begins a sign-in. */
  isFirstStep?: boolean | undefined
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
  const url = filling.secrets.length > 0 ? normalUrl(action) : action
  if (url.origin !== origin) return { refused: 'The form leads to another site than the entry.' }
  if (form.method !== 'post' && (form.method !== 'get' || filling.secrets.length > 0)) {
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

function isGivable({ controls }: PageForm, filling: Filling, name: string): boolean {
  const { fields, secrets, isFirstStep = false } = filling
  const named = controls.filter((control) => control.name === name)
  const isGuarded = secrets.length > 0 || isFirstStep
  return (
    named.length > 0 &&
    named.every(
      (control) => takes(control, fields[name] ?? '') && (isChoice(control) || !isGuarded),
    )
  )
}

function takes({ type, isReadOnly, options }: Control, value: string): boolean {
  return type === 'select' ? options.includes(value) : !isReadOnly
}

function isChoice({ type }: Control): boolean {
  return /^(select|checkbox|radio|submit)$/.test(type)
}

function pairsOf({ controls }: PageForm, filling: Filling): [string, string][] {
  const { fields, username, secrets } = filling
  const buttons = controls.filter(({ type }) => type === 'submit')
  const pressed = buttons.find((button) => fields[button.name] === button.value) ?? buttons[0]
  return controls.flatMap((control): [string, string][] => {
    const { name, type, value, isSent } = control
    const secret = secrets.find((one) => one.control === control)
    if (secret) return [[name, secret.value]]
    const given = fields[name]
    if (control === username?.control) return [[name, given ?? username.value]]
    if (type === 'submit') return control === pressed ? [[name, value]] : []
    if (type === 'checkbox' || type === 'radio') {
      return (given === undefined ? isSent : given === value) ? [[name, value]] : []
    }
    return given !== undefined || isSent ? [[name, given ?? value]] : []
  })
}
