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

/** The fields of a form that changes a password: one or two for the new one, beside the present one. */
export type PasswordChange = { current?: Asking; fresh: readonly Control[] }

/** The fields for a new password, where the form tells them from the one for the present password. */
export function changeOf({ controls }: PageForm): PasswordChange | undefined {
  const fields = controls.filter(({ type }) => type === 'password')
  const fresh = freshAmong(fields)
  const [current, ...others] = fields.filter((field) => !fresh.includes(field))
  if (fresh.length < 1 || fresh.length > 2 || others.length > 0) return undefined
  if (!current) return { fresh }
  const isNamedSo = isNamed(current.name, passwordNames, passwordContexts)
  return { current: { control: current, isNamedSo }, fresh }
}

/** By what they are called; else of three the last two, and of two alike both. */
function freshAmong(fields: readonly Control[]): readonly Control[] {
  if (fields.some(isOld)) return fields.filter((field) => !isOld(field))
  if (fields.some(isNew)) return fields.filter((field) => isNew(field) || isRepeated(field))
  if (fields.length === 3) return fields.slice(1)
  return fields.length === 2 && fields.slice(1).every(isRepeated) ? fields : []
}

function isOld({ name, autocomplete }: Control): boolean {
  return autocomplete.includes('current-password') || hasWord(name, oldWords)
}

function isNew({ name, autocomplete }: Control): boolean {
  return autocomplete.includes('new-password') || hasWord(name, newWords)
}

function isRepeated({ name }: Control): boolean {
  return hasWord(name, repeatWords) || /[a-z_-]2\W*$/i.test(name.slice(0, 128))
}

/** The only field for a one-time code. */
export function codeField(form: PageForm): Asking | undefined {
  const typed = form.controls.filter(isTyped)
  const marked = typed.filter(({ autocomplete }) => autocomplete.includes('one-time-code'))
  const named = typed.filter(({ name }) => isNamed(name, codeNames, codeContexts))
  const [control, ...others] = marked.length > 0 ? marked : named
  if (!control || others.length > 0) return undefined
  const isAlone = typed.length === 1 || marked.length > 0
  // Beside others, a form for vouchers asks for a code, and one for webhooks for a token.
  const isNamedSo = named.includes(control) && (isAlone || !/^(code|token)$/i.test(control.name))
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
const oldWords = wordsOf(
  'old oldpassword oldpass oldpwd current currentpassword existing previous altes alt aktuelles actual ' +
    'ancien vecchia huidig gammalt',
)
const newWords = wordsOf(
  'new newpassword newpasswd newpass newpwd neu neues nuevo nueva nouveau nouvelle nuova nova nieuw ' +
    'nieuwe nytt ny',
)
const repeatWords = wordsOf(
  'confirm confirmation confirmed confirmpassword repeat repeated again retype retyped reenter verify ' +
    'verification repassword wiederholen wiederholung',
)
const codeNames = wordsOf('otp totp code token passcode tfa mfa fa onetimecode pin otc attempt')
const codeContexts = wordsOf(
  'otp totp mfa tfa fa auth authenticator authentication verification verify security login signin ' +
    'sign in one time two factor sms email mail app device confirmation challenge token code ' +
    'passcode user account session form input txt',
)

/** Whether a name such as `user[password]` or `loginPassword` is made of these words, one at its end. */
function isNamed(name: string, last: ReadonlySet<string>, contexts: ReadonlySet<string>): boolean {
  if (name.length > 128 || /[0-9]\W*$/.test(name)) return false
  const words = wordsIn(name)
  return last.has(words.at(-1) ?? '') && words.slice(0, -1).every((word) => contexts.has(word))
}

function hasWord(name: string, words: ReadonlySet<string>): boolean {
  return name.length <= 128 && wordsIn(name).some((word) => words.has(word))
}

function wordsIn(name: string): string[] {
  return name
    .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z]+/)
    .filter((word) => word !== '')
}
