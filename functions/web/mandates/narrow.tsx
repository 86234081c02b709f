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
/** Number of digits that surely fit the type in SQL, which is one less than its largest number has. */
const digitsMax = { usdMicros: 18, payments: 9 }

/** Returns the narrowed terms as SQL takes them; undefined if a field is not a number. */
export function narrowedIn(form: URLSearchParams, mandate: MandateRow, now: Date) {
  const max_payment_usd_micros = usdIn(form, 'each')
  const max_day_usd_micros = usdIn(form, 'day')
  const max_total_usd_micros = usdIn(form, 'total')
  const max_payments = countIn(form)
  const isRead = max_day_usd_micros !== undefined && max_total_usd_micros !== undefined
  if (!max_payment_usd_micros || !isRead || max_payments === undefined) return undefined
  const life = lives.find(({ value }) => value === form.get('ends'))
  return {
    mandate: mandate.id,
    max_payment_usd_micros,
    max_day_usd_micros,
    max_total_usd_micros,
    max_payments,
    include_subdomains: form.get('below') === 'yes',
    expires_at: life ? laterBy(now, life.value) : mandate.expires_at,
  }
}

/** Reads an amount: null for an empty field, undefined if it is not an amount. */
function usdIn(form: URLSearchParams, name: string): string | null | undefined {
  const text = (form.get(name) ?? '').trim()
  if (text === '') return null
  const micros = parseAmount(typedAmount(text), usdDecimals)?.toString()
  return micros !== undefined && micros.length <= digitsMax.usdMicros ? micros : undefined
}

function countIn(form: URLSearchParams): number | null | undefined {
  const text = (form.get('count') ?? '').trim()
  if (text === '') return null
  return /^[0-9]+$/.test(text) && text.length <= digitsMax.payments ? Number(text) : undefined
}

function laterBy(now: Date, minutes: string): string {
  return new Date(now.getTime() + Number(minutes) * minuteMilliseconds).toISOString()
}

/** Explanations of why nothing was narrowed, by the word of the database or of the form. */
const narrowWords: Readonly<Record<string, string>> = {
  unreadable: 'Use amounts such as 250 or 12.50, and a whole number of payments.',
  wider: 'Something was more than what was asked for. It can only be made smaller.',
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
      <summary>Make it smaller first</summary>
      <p>You approve it after that, as it then is. A field that is empty sets no limit.</p>
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
            label="Hosts below the merchant’s too"
            checked={typed === undefined || typed.has('below')}
          />
        )}
        <div class="actions">
          <Button kind="plain">Make it smaller</Button>
        </div>
      </Form>
    </details>
  )
}

function Caps({ mandate, typed }: Pick<NarrowProps, 'mandate' | 'typed'>) {
  const usd = (name: string, label: string, micros: bigint | null) => (
    <Field
      name={name}
      label={label}
      value={typed?.get(name) ?? (micros === null ? '' : formatUsd(micros))}
      unit="USD"
      inputmode="decimal"
      autocomplete="off"
      maxlength={20}
      required={name === 'each'}
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
        maxlength={digitsMax.payments}
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
