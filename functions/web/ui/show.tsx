/** Parts that show facts, so that the same thing looks the same on every page. */
import { type Child, type PropsWithChildren, useContext } from 'hono/jsx'
import type { Chain } from '../../../shared/chains/chain.ts'
import { readableName } from '../../../shared/mandates/readable-name.ts'
import { formatUsd } from '../../../shared/money/amount.ts'
import { localTime, ReaderContext, timeWords } from './zone.ts'

/** Shows what the reader must know before the rest of the page. */
export function Notice({
  kind = 'info',
  title,
  children,
}: PropsWithChildren<{ kind?: 'info' | 'good' | 'warning' | 'danger'; title?: string }>) {
  return (
    <div class={`notice ${kind}`} role={kind === 'danger' ? 'alert' : 'status'}>
      {title && <strong>{title}</strong>}
      <div>{children}</div>
    </div>
  )
}

/** Shows above a form that its input was kept during a proof and must be sent again. */
export function SendAgain() {
  return (
    <Notice title="Nothing has changed yet">
      What you entered is filled in below. Check it and send it again.
    </Notice>
  )
}

/** Shows a state in a word; the colour only repeats it. */
export function Badge({
  kind = 'plain',
  children,
}: PropsWithChildren<{ kind?: 'plain' | 'good' | 'warning' | 'danger' }>) {
  return <span class={`badge ${kind}`}>{children}</span>
}

/** Shows an amount to its last digit, with its unit. */
export function Money({ amount, unit }: { amount: string; unit: string }) {
  return (
    <span class="money">
      {forPeople(amount)} <span class="unit">{unit}</span>
    </span>
  )
}

/** Shows a full address in groups of four, for comparison; a copy of it has no gaps. */
export function Address({ value }: { value: string }) {
  const groups = value.replace(/^0x/, '').match(/.{1,4}/g) ?? []
  return (
    <code class="address" data-copy={value}>
      <span>{value.startsWith('0x') ? '0x' : ''}</span>
      {groups.map((group) => (
        <span>{group}</span>
      ))}
    </code>
  )
}

/** Shows a time on the reader's clock, to the minute; its title is UTC. */
export function Time({
  at,
  isInSentence = false,
}: {
  at: string | Date
  /** True amid a sentence, which goes on with "today at 14:05". */
  isInSentence?: boolean
}) {
  const time = typeof at === 'string' ? new Date(at) : at
  const reader = useContext(ReaderContext)
  return <TimeTag at={time}>{timeWords(time, reader, isInSentence)}</TimeTag>
}

/** Shows the time of day alone, below the heading of its day. */
export function TimeOfDay({ at }: { at: Date }) {
  const reader = useContext(ReaderContext)
  const { time } = localTime(at, reader)
  return <TimeTag at={at}>{reader.clock === undefined ? `${time} UTC` : time}</TimeTag>
}

function TimeTag({ at, children }: PropsWithChildren<{ at: Date }>) {
  const iso = at.toISOString()
  return (
    <time datetime={iso} title={`${iso.slice(0, 19).replace('T', ' ')} UTC`}>
      {children}
    </time>
  )
}

/** Shows the day of the last use. */
export function LastUsed({ day }: { day: string | null }) {
  return day === null ? 'Never' : <time datetime={day}>{day}</time>
}

/** Column of a table: its heading and the cell of each row. */
export type Column<Row> = { label: string; cell: (row: Row) => Child; isNumber?: boolean }

/** Shows rows under headings, which become cards on a narrow screen. */
export function Table<Row>({
  caption,
  columns,
  rows,
}: {
  /** Description of the rows for screen readers. */
  caption: string
  columns: readonly Column<Row>[]
  rows: readonly Row[]
}) {
  return (
    <table>
      <caption class="unseen">{caption}</caption>
      <thead>
        <tr>
          {columns.map(({ label, isNumber }) => (
            <th scope="col" class={isNumber ? 'number' : undefined}>
              {label}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr>
            {columns.map(({ label, cell, isNumber }) => (
              <td data-label={label} class={isNumber ? 'number' : undefined}>
                {cell(row)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

/** Shows facts as names and values. */
export function Facts({ facts }: { facts: readonly (readonly [name: string, value: Child])[] }) {
  return (
    <dl class="facts">
      {facts.map(([name, value]) => (
        <div>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}

/** Shows a part of a page under its own heading. */
export function Section({
  title,
  action,
  children,
}: PropsWithChildren<{ title: string; action?: Child }>) {
  return (
    <section>
      <div class="head">
        <h2>{title}</h2>
        {action}
      </div>
      {children}
    </section>
  )
}

/** Shows that there is nothing yet, and what would change that. */
export function Empty({ children }: PropsWithChildren) {
  return <p class="empty">{children}</p>
}

/** Links to the next page of a list and to its beginning, if there are any. */
export function Pager({
  newest,
  older,
}: {
  newest?: string | undefined
  older?: string | undefined
}) {
  if (newest === undefined && older === undefined) return null
  return (
    <nav class="pager" aria-label="Pages">
      {newest === undefined ? <span /> : <a href={newest}>Newest</a>}
      {older !== undefined && (
        <a href={older} rel="next">
          Older
        </a>
      )}
    </nav>
  )
}

/** Says how long ago a time was, in the largest unit that fits. */
export function agoOf(nowMilliseconds: number, at: string): string {
  const minutes = Math.floor((nowMilliseconds - Date.parse(at)) / 60_000)
  if (minutes < 1) return 'just now'
  if (minutes < 60) return `${minutes} min ago`
  const hours = Math.floor(minutes / 60)
  return hours === 1 ? 'an hour ago' : `${hours} hours ago`
}

/** Formats an amount for people: all digits, at least two decimals, commas between thousands. */
export function forPeople(amount: string): string {
  const [whole = '0', fraction = ''] = amount.split('.')
  return `${BigInt(whole.replaceAll(',', '')).toLocaleString('en-US')}.${fraction.padEnd(2, '0')}`
}

/** Formats dollars to their last digit, so that a column of them adds up. */
export function forUsd(usdMicros: bigint): string {
  return forPeople(formatUsd(usdMicros))
}

const centMicros = 10_000n

/** Formats a balance in dollars, rounded down to the cent. */
export function usdRoundedDown(usdMicros: bigint): string {
  return forPeople(formatUsd(usdMicros - (usdMicros % centMicros)))
}

/** Formats an amount that was spent or counts, rounded up to the cent. */
export function usdRoundedUp(usdMicros: bigint): string {
  return usdRoundedDown(usdMicros + centMicros - 1n)
}

const states: Record<
  string,
  readonly [kind: 'plain' | 'good' | 'warning' | 'danger', word: string]
> = {
  awaiting_confirmation: ['warning', 'Waiting for approval'],
  approved_unsent: ['warning', 'Approved, not sent yet'],
  submitted: ['plain', 'On its way'],
  unknown: ['warning', 'Not certain yet'],
  settled: ['good', 'Settled'],
  paid: ['good', 'Paid'],
  paid_final: ['good', 'Paid, final'],
  released: ['plain', 'Not sent'],
  declined: ['plain', 'Declined'],
  refused: ['warning', 'Refused'],
  expired: ['plain', 'Expired'],
  included: ['good', 'Arrived'],
  safe: ['good', 'Arrived'],
  finalized: ['good', 'Arrived, final'],
  reverted: ['warning', 'Failed, may be sent again'],
  reorged: ['danger', 'Reversed'],
}

/** Shows the state. */
export function State({ of }: { of: string }) {
  const [kind, word] = states[of] ?? ['plain', of]
  return <Badge kind={kind}>{word}</Badge>
}

/** Shows the hash of a transaction, with a link to it in the explorer of its network. */
export function Transaction({ chain, hash }: { chain: Chain | undefined; hash: string }) {
  return (
    <>
      <code class="long">{hash}</code>{' '}
      {chain && (
        <a href={`${chain.explorerUrl}/tx/${hash}`} rel="noreferrer">
          View the transaction
        </a>
      )}
    </>
  )
}

/** Returns the name of a site for a sentence: the host, or the whole origin if it is not https. */
export function siteName(origin: string): string {
  return origin.replace(/^https:\/\//, '')
}

/** Shows the exact name, and the readable form if it differs. */
export function Site({ origin }: { origin: string }) {
  const { hostname } = new URL(origin)
  const readable = readableName(hostname) ?? hostname
  return (
    <>
      <code class="long">{siteName(origin)}</code>
      {readable !== hostname && <span class="hint"> reads as “{readable}”</span>}
    </>
  )
}

/** Shows the name in ASCII, in which no two names look alike, and the readable form if it differs. */
export function Merchant({ domain }: { domain: string }) {
  const readable = readableName(domain) ?? domain
  return (
    <>
      <code class="long">{domain}</code>
      {readable !== domain && <span class="hint"> reads as “{readable}”</span>}
    </>
  )
}

/** Warns about a name with letters beyond a to z. */
export function ForeignLetters({ domain }: { domain: string }) {
  const readable = readableName(domain) ?? domain
  if (readable === domain) return null
  return (
    <Notice kind="warning" title="This name has letters beyond a to z">
      It reads as “{readable}”, and other names can look the same. What counts is{' '}
      <code class="long">{domain}</code>: compare it with the name that you know.
    </Notice>
  )
}
