/** Forms and their fields. Every form is a plain POST and works without script. */
import { deleteCookie, getCookie, setCookie } from 'hono/cookie'
import type { Child, PropsWithChildren } from 'hono/jsx'
import { hostCookie, type PageContext, webAppPath } from '../visit.ts'

type FormProps = {
  c: PageContext
  action?: string
  id?: string
  class?: string
  /** True until a script of the page shows it. */
  hidden?: boolean
  /** Data for a script of the page. */
  [data: `data-${string}`]: string
}

/** Renders a form with its token (session.ts). `action` is a path below the app, else this page. */
export function Form({ c, action, children, ...rest }: PropsWithChildren<FormProps>) {
  const target = action === undefined ? c.req.path : webAppPath + action
  return (
    <form method="post" action={target} {...rest}>
      <input type="hidden" name="form" value={formValue(c)} />
      {children}
    </form>
  )
}

/** Returns the form token and, if the page has an owner, the account that the page was shown for. */
function formValue(c: PageContext): string {
  const account = c.get('owner')?.account.id ?? c.get('openedAccount')
  return account === undefined ? c.get('formToken') : `${c.get('formToken')}.${account}`
}

type ButtonProps = PropsWithChildren<{
  /** `danger` if it cannot be undone, `plain` beside a main button. */
  kind?: 'main' | 'plain' | 'danger'
  name?: string
  value?: string
  id?: string
  /** `button` for buttons that only scripts use and show. */
  type?: 'submit' | 'button'
  hidden?: boolean
  /** Sends the form even if a field of it is not filled in. */
  formnovalidate?: boolean
  /** Guards against stray clicks a button that gives something away (client/considered.ts). */
  'data-considered'?: ''
}>

/** Renders a button of a form. */
export function Button({ kind = 'main', type = 'submit', children, ...rest }: ButtonProps) {
  return (
    <button type={type} class={kind === 'main' ? undefined : kind} {...rest}>
      {children}
    </button>
  )
}

/** Renders a link that looks like a button and changes nothing. */
export function LinkButton({
  to,
  kind = 'plain',
  children,
}: PropsWithChildren<{ to: string; kind?: 'main' | 'plain' | 'danger' }>) {
  return (
    <a class={`button ${kind}`} href={webAppPath + to}>
      {children}
    </a>
  )
}

type FieldProps = {
  name: string
  label: Child
  hint?: string
  /** Message about what was wrong with it when it was sent. */
  error?: string
  type?: 'text' | 'email' | 'password' | 'search' | 'number' | 'date'
  value?: string
  required?: boolean
  autocomplete?: string
  inputmode?: 'decimal' | 'numeric' | 'email' | 'text'
  maxlength?: number
  minlength?: number
  pattern?: string
  placeholder?: string
  /** Unit behind the input, such as USD. */
  unit?: string
  /** Values that the browser suggests. */
  suggestions?: readonly Suggestion[]
}

/** Value that a browser suggests for a field, with its name. */
export type Suggestion = { value: string; label: string }

/** Renders a labelled input; screen readers read hint and error with it. */
export function Field({
  name,
  label,
  hint,
  error,
  type = 'text',
  unit,
  suggestions = [],
  ...rest
}: FieldProps) {
  const id = `field-${name}`
  const notes = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ')
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {hint && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {error && (
        <p class="error" id={`${id}-error`}>
          {error}
        </p>
      )}
      <span class="input">
        <input
          id={id}
          name={name}
          type={type}
          aria-describedby={notes || undefined}
          aria-invalid={error ? 'true' : undefined}
          list={suggestions.length > 0 ? `${id}-list` : undefined}
          {...rest}
        />
        {suggestions.length > 0 && (
          <datalist id={`${id}-list`}>
            {suggestions.map(({ value, label: name }) => (
              <option value={value}>{name}</option>
            ))}
          </datalist>
        )}
        {unit && <span class="unit">{unit}</span>}
      </span>
    </div>
  )
}

/** Renders a labelled input of several lines. */
export function Area({
  name,
  label,
  hint,
  error,
  value = '',
  maxlength,
}: Pick<FieldProps, 'name' | 'label' | 'value' | 'maxlength' | 'error'> & { hint: string }) {
  const id = `field-${name}`
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <p class="hint" id={`${id}-hint`}>
        {hint}
      </p>
      {error && (
        <p class="error" id={`${id}-error`}>
          {error}
        </p>
      )}
      <textarea
        id={id}
        name={name}
        rows={3}
        maxlength={maxlength}
        autocomplete="off"
        aria-describedby={error ? `${id}-hint ${id}-error` : `${id}-hint`}
        aria-invalid={error ? 'true' : undefined}
      >
        {value}
      </textarea>
    </div>
  )
}

/** Tells password managers whose password the form asks for. */
export function Username({ value }: { value: string }) {
  return <input type="text" name="username" autocomplete="username" value={value} readonly hidden />
}

type Choice = { value: string; label: string; hint?: string }

/** Renders a choice among a few values, all of them visible. */
export function Choices({
  name,
  legend,
  choices,
  chosen,
}: {
  name: string
  legend: string
  choices: readonly Choice[]
  chosen?: string
}) {
  return (
    <fieldset>
      <legend>{legend}</legend>
      {choices.map(({ value, label, hint }) => (
        <label class="choice">
          <input type="radio" name={name} value={value} checked={value === chosen} required />
          <span>
            {label}
            {hint && <span class="hint">{hint}</span>}
          </span>
        </label>
      ))}
    </fieldset>
  )
}

/** Renders a choice among values in a menu. */
export function Select({
  name,
  label,
  choices,
  chosen,
}: {
  name: string
  label: string
  choices: readonly Choice[]
  chosen?: string
}) {
  return (
    <div class="field">
      <label for={`field-${name}`}>{label}</label>
      <select id={`field-${name}`} name={name}>
        {choices.map((choice) => (
          <option value={choice.value} selected={choice.value === chosen}>
            {choice.label}
          </option>
        ))}
      </select>
    </div>
  )
}

/** Renders the field for a code that a mail brought. */
export function CodeField(props: Pick<FieldProps, 'error'>) {
  return (
    <Field
      name="code"
      label="6-digit code"
      required
      inputmode="numeric"
      autocomplete="one-time-code"
      pattern="[0-9 ]*"
      maxlength={12}
      {...props}
    />
  )
}

/** Renders a box that sends `yes` when it is ticked. */
export function Checkbox({
  name,
  label,
  checked = false,
  error,
}: {
  name: string
  label: string
  checked?: boolean
  error?: string | undefined
}) {
  return (
    <label class="choice">
      <input
        type="checkbox"
        name={name}
        value="yes"
        checked={checked}
        aria-invalid={error ? 'true' : undefined}
      />
      <span>
        {label}
        {error && <span class="error">{error}</span>}
      </span>
    </label>
  )
}

/** Sentences by act. */
const doneWords = {
  unfrozen: 'The account is no longer frozen. Agents can pay again.',
  key_revoked: 'The key is revoked and no longer works.',
  app_disconnected: 'The app is disconnected and no longer has access.',
  recipient_added: 'The recipient is now trusted.',
  removed: 'Removed. You will be asked about it again.',
  labelled: 'The name is saved.',
  limits_saved: 'Saved.',
  capped: 'The caps are saved and apply from now on.',
  approved:
    'Approved. Transfers are sent. The agent completes the purchases and gets what it buys.',
  approved_unsent:
    'Approved. Some transfers could not be sent: their pages say why. The agent completes the purchases.',
  declined_all: 'All waiting payments are declined.',
  mail_change_stopped: 'Stopped. Your email address stays as it is.',
  mail_change_over: 'No change was pending any more. See below which email address is yours.',
  reopened: 'The account is open again.',
  signed_out: 'You are signed out.',
  few: 'Select at least two waiting payments to approve them together.',
  unsure: 'Nothing has changed. Tick the box beside the button first.',
} as const

/** Act that the page after it tells. */
export type Done = keyof typeof doneWords

/** Details of an act: a sentence, and the form that takes it back. */
export type DoneDetails = { words?: string; undo?: Undo }
type Undo = { action: string; fields: Record<string, string> }

const cookie = 'aoa_done'
const keptSeconds = 60

/** Has the next page tell the act. */
export function keepDone(c: PageContext, done: Done, { words = '', undo }: DoneDetails = {}): void {
  const account = c.get('owner')?.account.id ?? ''
  const undoing = undo?.action ?? ''
  const kept = new URLSearchParams({ ...undo?.fields, done, words, account, undo: undoing })
  const options = { ...hostCookie, httpOnly: true, sameSite: 'Lax', maxAge: keptSeconds } as const
  setCookie(c, cookie, kept.toString(), options)
}

/** Returns the act that this page tells, once, and if it is done rather than still to be repeated. */
export function takeDone(
  c: PageContext,
): { words: string; isDone: boolean; undo?: Undo } | undefined {
  const { done, words, account, undo, ...fields } = Object.fromEntries(
    new URLSearchParams(getCookie(c, cookie, 'host')),
  )
  const act = Object.entries(doneWords).find(([one]) => one === done)
  if (!act) return undefined
  deleteCookie(c, cookie, hostCookie)
  return {
    words: [act[1], words].filter(Boolean).join(' '),
    isDone: !['few', 'unsure'].includes(act[0]),
    ...(undo && account === c.get('owner')?.account.id && { undo: { action: undo, fields } }),
  }
}

/** Links to the page for a proof, which leads back to this page. */
export function ProofLink({ c, label }: { c: PageContext; label: string }) {
  return (
    <p class="actions">
      <LinkButton to={`/proof?next=${encodeURIComponent(c.req.path)}`}>{label}</LinkButton>
    </p>
  )
}
