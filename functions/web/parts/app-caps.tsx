/** What an app may move, as it is shown and as it is set. */
import { formatUsd } from '../../../shared/money/amount.ts'
import type { Caps, Level } from '../data/apps.ts'
import { canPay } from '../data/apps.ts'
import { Field } from './form.tsx'
import { Money } from './show.tsx'

/** The caps of an app in a line. */
export function AppCaps({ level, caps: { each, day } }: { level: Level; caps: Caps }) {
  if (!canPay(level)) return 'Pays nothing'
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

type CapFieldsProps = {
  caps: Caps
  typed?: URLSearchParams | undefined
  /** Whether an empty field is no cap. */
  isOptional?: boolean
}

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
        'Most per payment',
        caps.each,
        'A payment above it is refused, not asked about.',
      )}
      {usd('day', 'Most in 24 hours', caps.day, 'Your limits hold beside it.')}
    </>
  )
}
