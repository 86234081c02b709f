/** Parts that show facts, so that the same thing looks the same on every page. */
import type { Child, PropsWithChildren } from 'hono/jsx'
import { forPeople } from './amounts.ts'

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
      What you entered is filled in below. Look it over and send it again.
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

/** Shows a time in UTC, to the minute. */
export function Time({ at }: { at: string | Date }) {
  const iso = (typeof at === 'string' ? new Date(at) : at).toISOString()
  return (
    <time datetime={iso} title={iso}>
      {iso.slice(0, 16).replace('T', ' ')} UTC
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
