/** The form that narrows a mandate before it is approved. An empty field sets no limit. */
import type { MandateRow } from '../../../shared/mandates/mandate-row.ts'
import { formatUsd, parseAmount, usdDecimals } from '../../../shared/money/amount.ts'
import { Button, Checkbox, Field, Form, Select } from '../ui/form.tsx'
import { Notice } from '../ui/show.tsx'
import { typedAmount } from '../ui/typed-amount.ts'
import type { PageContext } from '../visit.ts'

const lives = [
  { value: '60', label: 'In an hour' },
  { value: '1440', label: 'In a day' },
  { value: '10080', label: 'In a week' },
  { value: '43200', label: 'In 30 days' },
]
const minuteMilliseconds = 60_000
/** Bound of amounts that surely fit the type in SQL. */
const usdMicrosEnd = 10n ** 18n

/** Returns the narrowed terms as SQL takes them; undefined if a field is wrong. */
export function narrowedIn(form: URLSearchParams, mandate: MandateRow, now: Date) {
  const typed = typedIn(form)
  const { each, day, total, count } = typed
  if (!each || Object.keys(problemsIn(typed, mandate)).length > 0) return undefined
  const life = lives.find(({ value }) => value === form.get('ends'))
  return {
    mandate: mandate.id,
    max_payment_usd_micros: each.toString(),
    max_day_usd_micros: day?.toString() ?? null,
    max_total_usd_micros: total?.toString() ?? null,
    max_payments: count === null ? null : Number(count),
    include_subdomains: form.get('below') === 'yes',
    expires_at: life ? laterBy(now, life.value) : mandate.expires_at,
  }
}

/** Amount or number that was typed: null for an empty field, undefined if it cannot be read. */
type Typed = bigint | null | undefined

function typedIn(form: URLSearchParams) {
  const usd = (name: string): Typed => readTyped(form, name, usdMicrosIn)
  const count = readTyped(form, 'count', (text) =>
    /^[0-9]{1,9}$/.test(text) ? BigInt(text) : undefined,
  )
  return { each: usd('each'), day: usd('day'), total: usd('total'), count }
}

function readTyped(form: URLSearchParams, name: string, parse: (text: string) => Typed): Typed {
  const text = (form.get(name) ?? '').trim()
  return text === '' ? null : parse(text)
}

function usdMicrosIn(text: string): Typed {
  const micros = parseAmount(typedAmount(text), usdDecimals)
  return micros !== undefined && micros < usdMicrosEnd ? micros : undefined
}

type Problems = Partial<Record<'each' | 'day' | 'total' | 'count', string>>

/** Returns what is wrong with a field: it cannot be read, is more than was asked for, or too little. */
function problemsIn(typed: ReturnType<typeof typedIn>, mandate: MandateRow): Problems {
  const { each, day, total, count } = typed
  const least = each ?? 1n
  const { max_payments: most } = mandate
  const problems = {
    each: narrowProblemOf(each, mandate.max_payment_usd_micros, 1n),
    day: narrowProblemOf(day, mandate.max_day_usd_micros, least),
    total: narrowProblemOf(total, mandate.max_total_usd_micros, least),
    count: narrowProblemOf(count, most === null ? null : BigInt(most), 1n),
  }
  return Object.fromEntries(Object.entries(problems).filter(([, words]) => words !== undefined))
}

function narrowProblemOf(typed: Typed, asked: bigint | null, least: bigint): string | undefined {
  if (typed === undefined)
    return 'Enter an amount such as 250 or 12.50, or a whole number of payments.'
  if (asked !== null && (typed === null || typed > asked))
    return 'Enter no more than was asked for.'
  if (typed === null || typed >= least) return undefined
  return least === 1n ? 'More than 0.' : 'Enter at least the limit for each payment.'
}

function laterBy(now: Date, minutes: string): string {
  return new Date(now.getTime() + Number(minutes) * minuteMilliseconds).toISOString()
}

/** Explanations of why nothing was narrowed, by the word of the database; the fields say the rest. */
const narrowWords: Readonly<Record<string, string>> = {
  wider: 'Something was more than what was asked for. You can only narrow the mandate.',
  out_of_bounds: 'A limit over time cannot be smaller than what each payment may be, nor be zero.',
}

type NarrowProps = {
  c: PageContext
  mandate: MandateRow
  now: Date
  /** Input that was sent and not accepted, and the reason. */
  typed?: URLSearchParams | undefined
  problem?: string | undefined
}

/** Renders the form. */
export function NarrowForm({ c, mandate, now, typed, problem }: NarrowProps) {
  return (
    <details open={problem !== undefined}>
      <summary>Narrow it first</summary>
      <p>You then approve the narrowed mandate. An empty field sets no limit.</p>
      {problem && (
        <Notice kind="danger" title="Nothing has changed">
          {narrowWords[problem]}
        </Notice>
      )}
      <Form c={c} action={`/mandate/${mandate.id}/narrow`}>
        <Caps mandate={mandate} typed={typed} />
        <Ends mandate={mandate} now={now} typed={typed} />
        {mandate.include_subdomains && (
          <Checkbox
            name="below"
            label="Include subdomains of the merchant"
            checked={typed === undefined || typed.has('below')}
          />
        )}
        <div class="actions">
          <Button kind="plain">Narrow it</Button>
        </div>
      </Form>
    </details>
  )
}

function Caps({ mandate, typed }: Pick<NarrowProps, 'mandate' | 'typed'>) {
  const problems = typed ? problemsIn(typedIn(typed), mandate) : {}
  const errorAt = (name: keyof Problems) => {
    const error = problems[name]
    return error === undefined ? {} : { error }
  }
  const usd = (name: 'each' | 'day' | 'total', label: string, micros: bigint | null) => (
    <Field
      name={name}
      label={label}
      value={typed?.get(name) ?? (micros === null ? '' : formatUsd(micros))}
      unit="USD"
      inputmode="decimal"
      autocomplete="off"
      maxlength={20}
      required={name === 'each'}
      {...errorAt(name)}
    />
  )
  return (
    <>
      {usd('each', 'Each payment', mandate.max_payment_usd_micros)}
      {usd('day', 'In 24 hours', mandate.max_day_usd_micros)}
      {usd('total', 'In all', mandate.max_total_usd_micros)}
      <Field
        name="count"
        label="Number of payments"
        value={typed?.get('count') ?? String(mandate.max_payments ?? '')}
        inputmode="numeric"
        autocomplete="off"
        maxlength={9}
        {...errorAt('count')}
      />
    </>
  )
}

function Ends({ mandate, now, typed }: Pick<NarrowProps, 'mandate' | 'now' | 'typed'>) {
  const leftMilliseconds = Date.parse(mandate.expires_at) - now.getTime()
  const shorter = lives.filter(({ value }) => Number(value) * minuteMilliseconds < leftMilliseconds)
  if (shorter.length === 0) return null
  const choices = [{ value: '', label: 'As asked' }, ...shorter]
  return <Select name="ends" label="Ends" choices={choices} chosen={typed?.get('ends') ?? ''} />
}
