/** The caps of a key or app, as text and as a form. */
import type * as z from 'zod'
import { formatUsd } from '../../../shared/money/amount.ts'
import type { GrantScope } from '../../../shared/oauth/issuer.ts'
import type { capsRow } from '../../../shared/payments/payment-with-facts.ts'
import { limitTitles } from '../../../shared/policy/facts.ts'
import { Button, type DoneDetails, Field, Form } from '../ui/form.tsx'
import { Money, Section } from '../ui/show.tsx'
import { typedUsdMicrosIn } from '../ui/typed-amount.ts'
import type { PageContext } from '../visit.ts'

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
    <Section title="Its caps">
      <p>
        Nothing may exceed these caps, not even with your approval. A lower cap applies at once. To
        raise one, confirm again that it’s you.
      </p>
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

/** Renders the two fields for caps; one that was sent and is not an amount says so. */
export function CapFields({ caps, typed, isOptional = false }: CapFieldsProps) {
  const free = isOptional ? ' Leave empty for no cap.' : ''
  const isWrong = (name: string) => {
    const cap = typed?.has(name) ? typedUsdMicrosIn(typed, name) : 0n
    return cap === undefined || (cap === null && !isOptional)
  }
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
      {...(isWrong(name) && { error: capProblem })}
    />
  )
  return (
    <>
      {usd(
        'each',
        limitTitles.credential_payment_cap,
        caps.each,
        'Payments above this are refused without asking you.',
      )}
      {usd('day', limitTitles.credential_daily_cap, caps.day, 'Your limits apply as well.')}
    </>
  )
}

/** Caps with what is used of them. */
export type HeldCaps = z.output<typeof capsRow>
/** Caps as they are set, in micro-dollars; null means that only the limits of the account apply. */
export type Caps = { each: bigint | null; day: bigint | null }

/** Returns the caps without what is used of them. */
export function capsOf({ payment, daily }: HeldCaps): Caps {
  return { each: payment, day: daily && daily.limit }
}

/** True if one of the scopes allows payments. */
export const canPay = (scopes: readonly string[]) =>
  scopes.some((scope) => scope === 'pay' || scope === 'full')

const capProblem = 'Enter a cap from 0 to 1000000 USD, such as 250 or 12.50.'

/** Reads both caps from a form; undefined if one is missing or not an amount. */
export function capsIn(form: URLSearchParams): { each: bigint; day: bigint } | undefined {
  const caps = optionalCapsIn(form)
  if (!caps || caps.each === null || caps.day === null) return undefined
  return { each: caps.each, day: caps.day }
}

/** Reads the caps from a form in which an empty field means no cap. */
export function optionalCapsIn(form: URLSearchParams): Caps | undefined {
  const [each, day] = ['each', 'day'].map((name) => typedUsdMicrosIn(form, name))
  return each === undefined || day === undefined ? undefined : { each, day }
}

/** Returns caps as arguments of SQL functions. */
export function capsQuestion({ each, day }: Caps) {
  return {
    max_per_payment_usd_micros: each?.toString() ?? null,
    max_per_day_usd_micros: day?.toString() ?? null,
  }
}

/** Returns the form on this page that sets the caps back to what they were. */
export function capsUndo(action: string, before: HeldCaps): DoneDetails {
  const { each, day } = capsOf(before)
  const typed = (micros: bigint | null) => (micros === null ? '' : formatUsd(micros))
  return { undo: { action, fields: { wanted: 'capped', each: typed(each), day: typed(day) } } }
}

/** Returns caps as the lines of a mail. */
export function linesOfCaps({ each, day }: Caps): Record<string, string> {
  const text = (micros: bigint | null) => (micros === null ? 'No cap' : `${formatUsd(micros)} USD`)
  return { 'Per payment': text(each), 'In 24 hours': text(day) }
}

/** Choice of access for a key or an app: its scopes, and the words that the owner reads. */
export type Level = { name: string; scopes: readonly GrantScope[]; label: string; hint: string }

const secretsHint =
  'Signs in to sites with logins of the vault, without seeing passwords. Sees one-time codes of ' +
  'authenticators, and adds logins of its own.'
const secrets: Level = {
  name: 'vault',
  scopes: ['vault'],
  label: 'Use stored secrets',
  hint: secretsHint,
}
const look: Level = {
  name: 'read',
  scopes: ['read'],
  label: 'View only',
  hint: 'Balances, activity, limits and emails of the account.',
}
const lookAndSecrets: Level = {
  name: 'read_vault',
  scopes: ['read', 'vault'],
  label: 'View, and use stored secrets',
  hint: secretsHint,
}
const pay: Level = {
  name: 'pay',
  scopes: ['pay'],
  label: 'View, use stored secrets and pay',
  hint: 'Pays and sends emails in your name, within your limits and the caps below.',
}
const full: Level = {
  name: 'full',
  scopes: ['full'],
  label: 'Everything an agent may do',
  hint: 'All operations, including future ones. Never what only you may do.',
}

/** Returns the level of some scopes; a wider scope includes the narrower ones. */
export function levelOf(scopes: readonly string[]): Level {
  const has = (scope: string) => scopes.includes(scope)
  if (has('full')) return full
  if (has('pay')) return pay
  if (!has('vault')) return look
  return has('read') ? lookAndSecrets : secrets
}

const ladder = [look, lookAndSecrets, pay, full]

/** Returns the levels that an app with these scopes can be given, with its own. */
export function levelsFor(scopes: readonly string[]): readonly Level[] {
  return levelOf(scopes) === secrets ? [secrets, ...ladder] : ladder
}

/** Returns the levels that the owner can grant, the narrowest first and last the one that was asked for. */
export function levelsWithin(asked: readonly string[]): readonly Level[] {
  const widest = levelOf(asked)
  return widest === secrets ? [secrets] : ladder.slice(0, ladder.indexOf(widest) + 1)
}
