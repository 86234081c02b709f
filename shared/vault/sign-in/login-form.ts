/**
 * Fields of a served form that take a user name, a password or a code, found by the semantics of the page:
 * types, `autocomplete` and order. They are candidates: the owner approves the field for a password that the
 * owner entered.
 */
import type { Control, PageForm } from './page-forms.ts'

/** A field for a password, with the field for the user name before it. */
export type LoginForm = { form: PageForm; password: Control; username?: Control | undefined }

/** Most fields that the owner is asked to choose from. */
const candidatesMax = 4

/**
 * Returns the fields for a password in forms that are sent by POST. A hidden one is left out if there are others,
 * or if its page asks for the user name alone.
 */
export function loginFormsIn(forms: readonly PageForm[], origin: string): LoginForm[] {
  const found = formsOfSite(forms, origin).flatMap((form) =>
    passwordsIn(form).map((password) => ({
      form,
      password,
      username: usernameBefore(form, password),
    })),
  )
  const visible = found.filter(({ password }) => !password.isHidden)
  const isMore = visible.length > 0 || nameFormIn(forms, origin) !== undefined
  return (isMore ? visible : found).slice(0, candidatesMax)
}

/** Returns all fields of a form for a password. */
export function passwordsIn({ controls }: PageForm): Control[] {
  return controls.filter(({ type }) => type === 'password')
}

/** Returns the form that asks for a user name alone, on the first page of a sign-in on two pages. */
export function nameFormIn(
  forms: readonly PageForm[],
  origin: string,
): { form: PageForm; username: Control } | undefined {
  const asking = formsOfSite(forms, origin).flatMap((form) => {
    const isWhole = passwordsIn(form).some(({ isHidden }) => !isHidden)
    const username = isWhole ? undefined : usernameBefore(form)
    return username === undefined ? [] : [{ form, username }]
  })
  return asking.find(({ username }) => isMarkedName(username)) ?? asking[0]
}

function formsOfSite(forms: readonly PageForm[], origin: string): PageForm[] {
  return forms.filter(
    ({ method, action }) =>
      method === 'post' && URL.canParse(action) && new URL(action).origin === origin,
  )
}

/** Returns the field for the user name: the marked one, or the last that is called so, or the last. */
function usernameBefore({ controls }: PageForm, password?: Control): Control | undefined {
  const before = password === undefined ? controls : controls.slice(0, controls.indexOf(password))
  const typed = before.filter(
    ({ type, isReadOnly, isHidden }) => /^(text|email|tel)$/.test(type) && !isReadOnly && !isHidden,
  )
  return (
    typed.find(isMarkedName) ??
    typed.findLast(({ type, name }) => type === 'email' || userName.test(name)) ??
    typed.at(-1)
  )
}

function isMarkedName({ autocomplete }: Control): boolean {
  return /\b(username|email)\b/.test(autocomplete)
}

const userName = /user|login|email|mail|account|identifier|handle|phone|member|customer/i

/** Fields for a code: one, or a box for each digit. `isMarked` is true if the page itself says so. */
export type CodeFields = { controls: readonly Control[]; isMarked: boolean }

/** Returns the only empty field that a user types into, beside boxes to tick, buttons and hidden fields. */
export function codeFieldsIn(form: PageForm): CodeFields | undefined {
  const typed = form.controls.filter(
    ({ type, isHidden, isReadOnly }) =>
      !/^(hidden|checkbox|radio|submit|select)$/.test(type) && !isHidden && !isReadOnly,
  )
  const isInBoxes = typed.length >= boxesMin && typed.every(({ isSingle }) => isSingle)
  const marked = typed.filter(isMarkedCode)
  const controls = isInBoxes ? typed : marked.length > 0 ? marked : typed
  const [control, ...others] = controls
  const isWrong = controls.some((one) => one.value !== '' || !codeTypes.test(one.type))
  if (!control || isWrong || form.method !== 'post' || (others.length > 0 && !isInBoxes)) {
    return undefined
  }
  const isAlone = controls.length === typed.length
  const isNamed = isMarkedCode(control) || control.isNumeric || codeName.test(control.name)
  return { controls, isMarked: isAlone && isNamed && control.type !== 'password' }
}

const boxesMin = 4
const codeTypes = /^(text|tel|number|password)$/

function isMarkedCode({ autocomplete }: Control): boolean {
  return autocomplete.includes('one-time-code')
}

/** Names that sites give to a field for a code. Where a site has another one, the owner is asked. */
const codeName = /otp|code|token|mfa|2fa|tfa|pin$|two_?factor|verif|attempt/i
