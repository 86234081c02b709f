/**
 * Fields of a served form that take a user name, a password or a code, found by the semantics of the page:
 * types, `autocomplete` and order. They are candidates: the owner approves the field for a password that the
 * owner entered.
 */
import { Parser } from 'htmlparser2'
import * as z from 'zod'

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

const formsMax = 64
const controlsMax = 256
const optionsMax = 512

const controlSchema = z.object({
  name: z.string(),
  /** Type of an input in lower case, or textarea, select or submit. */
  type: z.string(),
  value: z.string(),
  /** True if the field is sent by default, unlike an unticked box. */
  isSent: z.boolean(),
  autocomplete: z.string(),
  /** True if a user cannot type into the field. */
  isReadOnly: z.boolean(),
  /** True if the page hides it by an attribute or a style of its own. */
  isHidden: z.boolean(),
  /** True if the page says that digits are typed into it. */
  isNumeric: z.boolean(),
  /** True if the field takes one character. */
  isSingle: z.boolean(),
  /** Values that a select offers. */
  options: z.array(z.string()),
})

/** Schema of a form; its address is resolved against the page. */
export const formSchema = z.object({
  action: z.string(),
  method: z.string(),
  enctype: z.string(),
  controls: z.array(controlSchema),
})

/** One field of a form. */
export type Control = z.output<typeof controlSchema>
/** A form of a served page. */
export type PageForm = z.output<typeof formSchema>

type Reading = {
  base: string
  isRebased: boolean
  forms: PageForm[]
  byId: Map<string, PageForm>
  /** Form that contains the fields that name no form. */
  open?: PageForm | undefined
  select?: Control | undefined
  /** Area that takes the text that follows as its value. */
  area?: Control | undefined
  /** Select whose last option takes the text that follows as its value, and if that option is chosen. */
  unvalued?: { select: Control; isChosen: boolean } | undefined
  text: string
  /** Number of open elements whose content is not part of the page. */
  inert: number
}

/** Elements whose content a browser does not show as forms (HTML standard, section 13.2.6.4). */
const inert = new Set(['template', 'iframe', 'noembed', 'noframes', 'xmp', 'plaintext'])

type Attributes = ReadonlyMap<string, string>

/** Returns the forms in order; none if a browser would not show them as a page of the site. */
export function formsOf(html: string, page: URL, headers: Headers): PageForm[] {
  if (!isPage(headers)) return []
  const reading: Reading = {
    base: page.href,
    isRebased: false,
    forms: [],
    byId: new Map(),
    text: '',
    inert: 0,
  }
  const parser = new Parser({
    onopentag: (name, attributes) => {
      endText(reading)
      if (inert.has(name)) reading.inert += 1
      if (reading.inert === 0) read(reading, name, new Map(Object.entries(attributes)))
    },
    ontext: (text) => {
      if (reading.area || reading.unvalued) reading.text += text
    },
    onclosetag: (name, isImplied) => {
      endText(reading)
      if (inert.has(name)) reading.inert -= 1
      // Browsers end a form by its own tag alone (HTML standard, section 13.2.6.4.7).
      if (name === 'form' && !isImplied) reading.open = undefined
      if (name === 'select') reading.select = undefined
    },
  })
  parser.end(html)
  return reading.forms
}

/** False for uploaded files, which are served as downloads, as other text or in a sandbox. */
function isPage(headers: Headers): boolean {
  const type = headers.get('content-type') ?? ''
  const policy = headers.get('content-security-policy') ?? ''
  return (
    /^\s*(text\/html|application\/xhtml\+xml)\s*(;|$)/i.test(type) &&
    !/^\s*attachment/i.test(headers.get('content-disposition') ?? '') &&
    !/\bsandbox\b/i.test(policy)
  )
}

function endText(reading: Reading): void {
  const { area, unvalued, text } = reading
  if (unvalued) giveValue(unvalued, text.trim())
  // HTML standard, section 13.1.2.5: a line feed at the beginning is not part of the text.
  if (area) area.value = text.replace(/^\r?\n/, '')
  reading.unvalued = undefined
  reading.area = undefined
  reading.text = ''
}

function read(reading: Reading, name: string, attributes: Attributes): void {
  if (name === 'base') rebase(reading, attributes)
  else if (name === 'form') openForm(reading, attributes)
  else if (name === 'option') readOption(reading, attributes)
  else if (name === 'input') addInput(reading, attributes)
  else if (name === 'button') addButton(reading, attributes)
  else if (name === 'select') reading.select = add(reading, attributes, { type: 'select' })
  else if (name === 'textarea') reading.area = add(reading, attributes, { type: 'textarea' })
}

/** Sets the base address; only the first base element counts. */
function rebase(reading: Reading, attributes: Attributes): void {
  const href = attributes.get('href')
  if (reading.isRebased || href === undefined) return
  reading.isRebased = true
  if (URL.canParse(href, reading.base)) reading.base = new URL(href, reading.base).href
}

function openForm(reading: Reading, attributes: Attributes): void {
  // A form within a form is ignored.
  if (reading.open || reading.forms.length >= formsMax) return
  const action = (attributes.get('action') ?? '').trim()
  const id = attributes.get('id') ?? ''
  const form: PageForm = {
    action: URL.canParse(action, reading.base) ? new URL(action, reading.base).href : '',
    method: (attributes.get('method') ?? 'get').trim().toLowerCase(),
    enctype: (attributes.get('enctype') ?? '').trim().toLowerCase(),
    controls: [],
  }
  reading.forms.push(form)
  reading.open = form
  if (id !== '' && !reading.byId.has(id)) reading.byId.set(id, form)
}

function addInput(reading: Reading, attributes: Attributes): void {
  const type = (attributes.get('type') ?? 'text').trim().toLowerCase()
  if (type === 'submit') addButton(reading, attributes)
  if (/^(submit|button|reset|image|file)$/.test(type)) return
  const isBox = type === 'checkbox' || type === 'radio'
  const value = attributes.get('value') ?? (isBox ? 'on' : '')
  add(reading, attributes, { type, value, isSent: !isBox || attributes.has('checked') })
}

/** Adds a submit button, unless it sends the form elsewhere or by another method. */
function addButton(reading: Reading, attributes: Attributes): void {
  const type = (attributes.get('type') ?? 'submit').trim().toLowerCase()
  if (type !== 'submit' || attributes.has('formaction') || attributes.has('formmethod')) return
  add(reading, attributes, { type, value: attributes.get('value') ?? '', isSent: false })
}

function readOption(reading: Reading, attributes: Attributes): void {
  const { select } = reading
  if (!select || attributes.has('disabled') || select.options.length >= optionsMax) return
  const isChosen = !select.isSent || attributes.has('selected')
  select.isSent = true
  select.options.push('')
  giveValue({ select, isChosen }, attributes.get('value') ?? '')
  if (!attributes.has('value')) reading.unvalued = { select, isChosen }
}

function giveValue({ select, isChosen }: { select: Control; isChosen: boolean }, value: string) {
  select.options[select.options.length - 1] = value
  if (isChosen) select.value = value
}

type Read = Partial<Pick<Control, 'value' | 'isSent'>> & { type: string }

function add(reading: Reading, attributes: Attributes, read: Read): Control | undefined {
  const owner = attributes.get('form')
  const form = owner === undefined ? reading.open : reading.byId.get(owner)
  const name = attributes.get('name') ?? ''
  if (!form || name === '' || attributes.has('disabled')) return undefined
  if (form.controls.length >= controlsMax) return undefined
  const autocomplete = (attributes.get('autocomplete') ?? '').trim().toLowerCase().slice(0, 64)
  const control: Control = {
    name,
    type: read.type,
    value: read.value ?? '',
    isSent: read.isSent ?? read.type !== 'select',
    autocomplete,
    isReadOnly: attributes.has('readonly') && !/^(hidden|checkbox|radio|select)$/.test(read.type),
    isHidden: isHidden(attributes),
    isNumeric: read.type === 'number' || isForDigits(attributes),
    isSingle: attributes.get('maxlength')?.trim() === '1',
    options: [],
  }
  form.controls.push(control)
  return control
}

/** Styles that hide a field or move it off the page. */
const hiding =
  /display\s{0,4}:\s{0,4}none|visibility\s{0,4}:\s{0,4}hidden|(left|top)\s{0,4}:\s{0,4}-[0-9]{3}/i

function isHidden(attributes: Attributes): boolean {
  const isUnread = attributes.get('aria-hidden')?.trim().toLowerCase() === 'true'
  return isUnread || attributes.has('hidden') || hiding.test(attributes.get('style') ?? '')
}

function isForDigits(attributes: Attributes): boolean {
  const mode = (attributes.get('inputmode') ?? '').trim().toLowerCase()
  return mode === 'numeric' || /\\d|0-9/.test(attributes.get('pattern') ?? '')
}
