/**
 * Which field of a served form asks for a user name, a password or a code. A browser fills in any
 * field of type password; here its name has to say as well that the site reads a password there,
 * because members of some sites write forms that others are served. Any other field is a place that
 * the owner approves.
 */
import type { Control, PageForm } from './page-forms.ts'

/** A field for a secret, and whether its name is one that everybody uses for it. */
export type Asking = { control: Control; isNamedSo: boolean }

/** The only field for the password that the site knows; none where a new one is asked for. */
export function passwordField({ controls }: PageForm): Asking | undefined {
  const fields = controls.filter(({ type }) => type === 'password')
  const [control] = fields
  if (!control || fields.length > 1 || control.autocomplete.includes('new-password')) {
    return undefined
  }
  return { control, isNamedSo: isNamed(control.name, passwordNames, passwordContexts) }
}

/** The only field for a one-time code. */
export function codeField(form: PageForm): Asking | undefined {
  const typed = form.controls.filter(isTyped)
  const marked = typed.filter(({ autocomplete }) => autocomplete.includes('one-time-code'))
  const named = typed.filter(({ name }) => isNamed(name, codeNames, codeContexts))
  const [control, ...others] = marked.length > 0 ? marked : named
  if (!control || others.length > 0) return undefined
  const isAlone = typed.length === 1 || marked.length > 0
  const isNamedSo = named.includes(control) && (isAlone || !/^code$/i.test(control.name))
  return { control, isNamedSo }
}

/** The field for the user name, before a password or alone on the first of two pages. */
export function usernameField({ controls }: PageForm): Control | undefined {
  const before = controls.slice(0, indexOfPassword(controls))
  const typed = before.filter(({ type }) => /^(text|email|tel)$/.test(type))
  return (
    typed.find(({ autocomplete }) => /\b(username|email)\b/.test(autocomplete)) ??
    typed.findLast(({ type, name }) => type === 'email' || userName.test(name)) ??
    typed.at(-1)
  )
}

/** Whether a form without a password begins a sign-in in two steps. */
export function isFirstStep(form: PageForm): boolean {
  const typed = form.controls.filter(isTyped)
  const [only, ...others] = typed
  if (!only || others.length > 0 || form.method !== 'post') return false
  return only.autocomplete.includes('username') || signIn.test(`${form.action} ${form.called}`)
}

function indexOfPassword(controls: readonly Control[]): number {
  const at = controls.findIndex(({ type }) => type === 'password')
  return at === -1 ? controls.length : at
}

function isTyped({ type }: Control): boolean {
  return /^(text|email|tel|number|password)$/.test(type)
}

const userName = /user|login|email|mail|account|identifier|handle|phone|member|customer/i
const signIn = /log-?_?[io]n|sign-?_?in|auth|session|identif/i

const wordsOf = (list: string): ReadonlySet<string> => new Set(list.split(' '))
const passwordNames = wordsOf(
  'password passwd pass passphrase pwd pw userpassword userpwd userpass loginpassword passwort ' +
    'kennwort contrasena senha mdp motdepasse parola wachtwoord haslo heslo losenord salasana',
)
const passwordContexts = wordsOf(
  'user username login logon log signin sign in session sessions auth authentication account ' +
    'current existing old sudo my your member customer client email form txt tb input ctl content ' +
    'main j vb ap os sap wp',
)
const codeNames = wordsOf('otp totp code token passcode tfa mfa fa onetimecode pin otc')
const codeContexts = wordsOf(
  'otp totp mfa tfa fa auth authenticator authentication verification verify security login signin ' +
    'sign in one time two factor sms email mail app device confirmation challenge token code ' +
    'passcode user account session form input txt',
)

/** Whether a name such as `user[password]` or `loginPassword` is made of these words, one at its end. */
function isNamed(name: string, last: ReadonlySet<string>, contexts: ReadonlySet<string>): boolean {
  if (name.length > 128 || /[0-9]\W*$/.test(name)) return false
  const words = name
    .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z]+/)
    .filter((word) => word !== '')
  return last.has(words.at(-1) ?? '') && words.slice(0, -1).every((word) => contexts.has(word))
}
