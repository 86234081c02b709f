/**
 * Reads the forms of a served page as a browser without scripts would send them, in time proportional to
 * its length. Scripts, comments and the text of fields contain no forms, and neither do pages for which the
 * site does not vouch, such as uploaded files.
 */
import * as z from 'zod'
import type { Attributes, Token } from '../../mailbox/html/html-tokens.ts'
import { tokensOf } from '../../mailbox/html/html-tokens.ts'
import { formTargets } from './form-policy.ts'

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
  /** Values that a select offers. */
  options: z.array(z.string()),
})

/** Schema of a form; its address is resolved against the page. */
export const formSchema = z.object({
  action: z.string(),
  method: z.string(),
  enctype: z.string(),
  /** The form's id, name and classes. */
  called: z.string(),
  controls: z.array(controlSchema),
})

/** One field of a form. */
export type Control = z.output<typeof controlSchema>
/** A form of a served page. */
export type PageForm = z.output<typeof formSchema>

type Reading = {
  base: string
  isRebased: boolean
  /** Content security policies of the header and of the page's own meta elements. */
  policies: string[]
  forms: PageForm[]
  byId: Map<string, PageForm>
  /** Form that contains the fields that name no form. */
  open?: PageForm | undefined
  select?: Control | undefined
  /** Select whose last option takes the text that follows as its value, and if that option is chosen. */
  unvalued?: { select: Control; isChosen: boolean } | undefined
}

/** Returns the forms in order; none if a browser would not show them as a page of the site. */
export function formsOf(html: string, page: URL, headers: Headers): PageForm[] {
  if (!isPage(headers)) return []
  const policies = [headers.get('content-security-policy') ?? '']
  const reading: Reading = {
    base: page.href,
    isRebased: false,
    policies,
    forms: [],
    byId: new Map(),
  }
  for (const token of tokensOf(html)) {
    // HTML standard, section 13.2.5.5: everything that follows is text.
    if (token.kind === 'open' && token.name === 'plaintext') break
    read(reading, token)
  }
  const isTarget = formTargets(policies, page)
  return reading.forms.map((form) => (isTarget(form.action) ? form : { ...form, action: '' }))
}

/** False for uploaded files, which are served as downloads, as other text or in a sandbox. */
function isPage(headers: Headers): boolean {
  const type = headers.get('content-type') ?? ''
  const policy = headers.get('content-security-policy') ?? ''
  return (
    /^\s*(text\/html|application\/xhtml\+xml)\s*(;|$)/i.test(type) &&
    !/^\s*attachment/i.test(headers.get('content-disposition') ?? '') &&
    !/\bsandbox\b/i.test(policy) &&
    !/\bform-action\s+'none'/i.test(policy)
  )
}

function read(reading: Reading, token: Token): void {
  const { unvalued } = reading
  reading.unvalued = undefined
  if (token.kind === 'text') {
    if (unvalued) giveValue(unvalued, token.text.trim())
    return
  }
  if (token.kind === 'close') {
    if (token.name === 'form') reading.open = undefined
    if (token.name === 'select') reading.select = undefined
    return
  }
  const { name, attributes } = token
  if (name === 'base') rebase(reading, attributes)
  else if (name === 'form') openForm(reading, attributes)
  else if (name === 'meta') readPolicy(reading, attributes)
  else if (name === 'option') readOption(reading, attributes)
  else if (name === 'input') addInput(reading, attributes)
  else if (name === 'button') addButton(reading, attributes)
  else if (name === 'select') reading.select = add(reading, attributes, { type: 'select' })
  else if (token.kind === 'raw' && name === 'textarea') {
    // HTML standard, section 13.1.2.5: a line feed at the beginning is not part of the text.
    add(reading, attributes, { type: 'textarea', value: token.text.replace(/^\r?\n/, '') })
  }
}

function readPolicy({ policies }: Reading, attributes: Attributes): void {
  const header = (attributes.get('http-equiv') ?? '').trim().toLowerCase()
  if (header === 'content-security-policy') policies.push(attributes.get('content') ?? '')
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
  const [id = '', name = ''] = [attributes.get('id'), attributes.get('name')]
  const form: PageForm = {
    action: URL.canParse(action, reading.base) ? new URL(action, reading.base).href : '',
    method: (attributes.get('method') ?? 'get').trim().toLowerCase(),
    enctype: (attributes.get('enctype') ?? '').trim().toLowerCase(),
    called: [id, name, attributes.get('class') ?? ''].join(' ').slice(0, 256),
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
    options: [],
  }
  form.controls.push(control)
  return control
}
