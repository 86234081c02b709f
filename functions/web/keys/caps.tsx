/** The caps of a key or app, as text and as a form. */
import { formatUsd } from '../../../shared/money/amount.ts'
import { limitTitles } from '../../../shared/policy/facts.ts'
import { Button, Field, Form } from '../ui/form.tsx'
import { Money, Section } from '../ui/show.tsx'
import { Used } from '../ui/spent.tsx'
import type { PageContext } from '../visit.ts'
import { type Caps, capsOf, type HeldCaps } from './caps-data.ts'

/** Shows caps in one line. */
export function CapsLine({ caps: { each, day } }: { caps: Caps }) {
  if (each === null && day === null) return 'Your limits'
  return (
    <>
      {each !== null && (
        <>
          <Money amount={formatUsd(each)} unit="USD" /> each
        </>
      )}
      {each !== null && day !== null && ', '}
      {day !== null && (
        <>
          <Money amount={formatUsd(day)} unit="USD" /> a day
        </>
      )}
    </>
  )
}

type CapsFormProps = {
  c: PageContext
  caps: HeldCaps
  typed: URLSearchParams | undefined
  isOptional?: boolean
}

/** Renders the form that changes the caps of a key or app. */
export function CapsForm({ c, caps, typed, isOptional = false }: CapsFormProps) {
  return (
    <Section title="What it may pay">
      <p>
        No consent passes these caps, not even your own approval. A lower one holds at once. To
        raise one you prove again that it is you.
      </p>
      {caps.daily && <Used id="used-cap" label="Used in the last 24 hours" window={caps.daily} />}
      <Form c={c}>
        <CapFields caps={capsOf(caps)} typed={typed} isOptional={isOptional} />
        <div class="actions">
          <Button kind="plain" name="wanted" value="capped">
            Save
          </Button>
        </div>
      </Form>
    </Section>
  )
}

type CapFieldsProps = {
  caps: Caps
  typed?: URLSearchParams | undefined
  /** True if an empty field means no cap. */
  isOptional?: boolean
}

/** Renders the two fields for caps. */
export function CapFields({ caps, typed, isOptional = false }: CapFieldsProps) {
  const free = isOptional ? ' Empty sets no cap.' : ''
  const usd = (name: string, label: string, micros: bigint | null, hint: string) => (
    <Field
      name={name}
      label={label}
      hint={hint + free}
      value={typed?.get(name) ?? (micros === null ? '' : formatUsd(micros))}
      unit="USD"
      inputmode="decimal"
      autocomplete="off"
      maxlength={20}
      required={!isOptional}
    />
  )
  return (
    <>
      {usd(
        'each',
        limitTitles.credential_payment_cap,
        caps.each,
        'A payment above it is refused, not asked about.',
      )}
      {usd('day', limitTitles.credential_daily_cap, caps.day, 'Your limits hold beside it.')}
    </>
  )
}
