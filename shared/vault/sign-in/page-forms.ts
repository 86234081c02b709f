/**
 * Reads the forms of a served page as a browser without scripts would send them, in time proportional to
 * its length. Scripts, comments and the text of fields contain no forms, and neither do pages for which the
 * site does not vouch, such as uploaded files.
 */
import { Parser } from 'htmlparser2'
import * as z from 'zod'

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
  /** Number of open elements whose content is no part of the page. */
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
