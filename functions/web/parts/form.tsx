/** Forms and what stands in them. Every form is a plain POST and works without script. */
import type { Child, PropsWithChildren } from 'hono/jsx'
import type { Visit } from '../visit.ts'
import { pagesBelow } from '../visit.ts'

type FormProps = {
  c: Visit
  action?: string
  id?: string
  class?: string
  /** What a script of the page works from. */
  [data: `data-${string}`]: string
}

/** A form that shows whose it is (form-token.ts). `action` is the path below the app, else this page. */
export function Form({ c, action, children, ...rest }: PropsWithChildren<FormProps>) {
  const target = action === undefined ? c.req.path : pagesBelow + action
  return (
    <form method="post" action={target} {...rest}>
      <input type="hidden" name="form" value={formValue(c)} />
      {children}
    </form>
  )
}

/** The token, and whose page it is when it is an owner's. */
function formValue(c: Visit): string {
  const account = c.get('owner')?.account.id ?? c.get('openedAccount')
  return account === undefined ? c.get('formToken') : `${c.get('formToken')}.${account}`
}

type ButtonProps = PropsWithChildren<{
  /** `danger` for what cannot be taken back, `plain` beside a main one. */
  kind?: 'main' | 'plain' | 'danger'
  name?: string
  value?: string
  id?: string
  /** `button` is for scripts alone, which show it. */
  type?: 'submit' | 'button'
  hidden?: boolean
  /** For functions/web/client/considered.ts: it gives something away, and no stray click may. */
  'data-considered'?: ''
}>

export function Button({ kind = 'main', type = 'submit', children, ...rest }: ButtonProps) {
  return (
    <button type={type} class={kind === 'main' ? undefined : kind} {...rest}>
      {children}
    </button>
  )
}

/** A link that looks like a button, for a way on that changes nothing. */
export function LinkButton({
  to,
  kind = 'plain',
  children,
}: PropsWithChildren<{ to: string; kind?: 'main' | 'plain' | 'danger' }>) {
  return (
    <a class={`button ${kind}`} href={pagesBelow + to}>
      {children}
    </a>
  )
}

type FieldProps = {
  name: string
  label: Child
  hint?: string
  /** What was wrong with it when it was sent. */
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
  autofocus?: boolean
  /** Unit before or behind the input, such as USD. */
  unit?: string
}

/** A labelled input; hint and error are read out with it. */
export function Field({ name, label, hint, error, type = 'text', unit, ...rest }: FieldProps) {
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
          {...rest}
        />
        {unit && <span class="unit">{unit}</span>}
      </span>
    </div>
  )
}

/** The same for text of several lines. */
export function Area({
  name,
  label,
  hint,
  value = '',
  maxlength,
}: Pick<FieldProps, 'name' | 'label' | 'value' | 'maxlength'> & { hint: string }) {
  const id = `field-${name}`
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <p class="hint" id={`${id}-hint`}>
        {hint}
      </p>
      <textarea
        id={id}
        name={name}
        rows={3}
        maxlength={maxlength}
        autocomplete="off"
        aria-describedby={`${id}-hint`}
      >
        {value}
      </textarea>
    </div>
  )
}

/** Tells a password manager whose password a form asks for. */
export function Username({ value }: { value: string }) {
  return <input type="text" name="username" autocomplete="username" value={value} readonly hidden />
}

type Choice = { value: string; label: string; hint?: string }

/** One of a few values, all of them in sight. */
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

export function Checkbox({
  name,
  label,
  checked = false,
}: {
  name: string
  label: string
  checked?: boolean
}) {
  return (
    <label class="choice">
      <input type="checkbox" name={name} value="yes" checked={checked} />
      <span>{label}</span>
    </label>
  )
}
