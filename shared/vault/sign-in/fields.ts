/**
 * Detection of the field in a served form that asks for a user name, a password or a code. A browser fills
 * any field of type password. Here the field also needs a name that is common for passwords, because
 * members of some sites write forms that others are served. Any other field is a place that the owner
 * approves.
 */
import type { Control, PageForm } from './page-forms.ts'

/** A field for a secret; `isNamedSo` is true if its name is a common one for that secret. */
export type SecretField = { control: Control; isNamedSo: boolean }

/** Returns the only field for the current password; undefined if the form asks for a new one. */
export function passwordField({ controls }: PageForm): SecretField | undefined {
  const fields = controls.filter(({ type }) => type === 'password')
  const [control] = fields
  if (!control || fields.length > 1 || control.autocomplete.includes('new-password')) {
    return undefined
  }
  return { control, isNamedSo: isNamed(control.name, passwordNames, passwordContexts) }
}

/** Returns the only field for a one-time code. */
export function codeField(form: PageForm): SecretField | undefined {
  const typed = form.controls.filter(isTyped)
  const marked = typed.filter(({ autocomplete }) => autocomplete.includes('one-time-code'))
  const named = typed.filter(({ name }) => isNamed(name, codeNames, codeContexts))
  const [control, ...others] = marked.length > 0 ? marked : named
  if (!control || others.length > 0) return undefined
  const isAlone = form.controls.filter((one) => !isBesideCode(one)).length === 1
  return { control, isNamedSo: isAlone && named.includes(control) }
}

/** True for fields that forms for codes usually have; any other could decide what becomes of the code. */
function isBesideCode({ type }: Control): boolean {
  return /^(hidden|checkbox|submit)$/.test(type)
}

/** Returns the field for the user name, before a password or alone on the first of two pages. */
export function usernameField({ controls }: PageForm): Control | undefined {
  const before = controls.slice(0, indexOfPassword(controls))
  const typed = before.filter(
    ({ type, isReadOnly }) => /^(text|email|tel)$/.test(type) && !isReadOnly,
  )
  return (
    typed.find(({ autocomplete }) => /\b(username|email)\b/.test(autocomplete)) ??
    typed.findLast(({ type, name }) => type === 'email' || userName.test(name)) ??
    typed.at(-1)
  )
}

/** True if a form without a password begins a sign-in in two steps. */
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
const codeNames = wordsOf(
  'otp totp code token passcode tfa mfa fa twofa twofactor onetimecode pin otc attempt otpcode totpcode ' +
    'mfacode tfacode twofacode authcode smscode logincode securitycode verificationcode',
)
const codeContexts = wordsOf(
  'otp totp mfa tfa fa auth authenticator authentication verification verify security login signin ' +
    'sign in one time two twofa factor twofactor twostep step sms email mail app device confirmation challenge token code ' +
    'passcode user account session form input txt',
)

/** True if a name such as `user[password]` or `loginPassword` has only these words, one of `last` last. */
function isNamed(name: string, last: ReadonlySet<string>, contexts: ReadonlySet<string>): boolean {
  if (name.length > 128 || /[0-9]\W*$/.test(name)) return false
  // The known names have only Latin letters, and no numbers as words of their own.
  if (/[^\x20-\x7e]/.test(name) || /(^|[^a-z0-9])[0-9]+[^a-z0-9]/i.test(name)) return false
  const words = wordsIn(name)
  return last.has(words.at(-1) ?? '') && words.slice(0, -1).every((word) => contexts.has(word))
}

function wordsIn(name: string): string[] {
  return name
    .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z]+/)
    .filter((word) => word !== '')
}
