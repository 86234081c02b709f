/** Files of the activity for spreadsheets: CSV (RFC 4180), with a byte order mark so that they read UTF-8. */
import { assetOf } from '../../../shared/chains/registry.ts'
import type { Config } from '../../../shared/env.ts'
import { formatAmount, formatUsd } from '../../../shared/money/amount.ts'
import { usdMicrosOf } from '../../../shared/money/usd.ts'
import type { Payment } from '../../../shared/payments/payment.ts'
import type { ActivityItem } from '../../../shared/payments/show/activity.ts'
import { merchantOf } from '../../../shared/payments/words.ts'
import { csvCell } from '../../../shared/text/csv.ts'
import type { ListedRow } from './activity-data.ts'
import { paymentOutcome } from './activity-lines.tsx'

/** Number of lines in one file, which a spreadsheet opens without trouble. */
export const exportedMax = 5_000

/** Text of one cell, by column. */
type Line = Readonly<Record<string, string>>

const eventColumns = [
  'time',
  'category',
  'type',
  'summary',
  'status',
  'amount',
  'token',
  'chain',
  'tx_hash',
  'words_of_others',
] as const

/** Writes the events, one a line; a last line tells that older ones are missing. */
export function csvBytes(items: readonly ActivityItem[]): Uint8Array<ArrayBuffer> {
  return fileOf(
    eventColumns,
    items.map(({ untrusted, at, ...item }) => ({
      ...item,
      ref: '',
      from: '',
      time: at,
      words_of_others: Object.values(untrusted ?? {}).join(' '),
    })),
  )
}

const paymentColumns = [
  'time',
  'direction',
  'state',
  'amount',
  'token',
  'network',
  'usd_value',
  'counterparty',
  'address',
  'merchant',
  'agent',
  'consent',
  'note',
  'tx_hash',
  'payment_id',
] as const

/**
 * Writes payments and deposits, one a line. Amounts out are negative. `usd_value` is what moved: 0 for a payment
 * that was not made, or not yet, so that the column adds up to what the account gained.
 */
export function paymentsCsv(rows: readonly ListedRow[], config: Config): Uint8Array<ArrayBuffer> {
  return fileOf(
    paymentColumns,
    rows.flatMap((row): Line[] => {
      const time = new Date(row.at).toISOString()
      if (row.payment) return [{ time, agent: row.agent ?? '', ...outLine(row.payment, row.label) }]
      return row.deposit ? [{ time, ...inLine(row.deposit, config) }] : []
    }),
  )
}

const consents: Record<NonNullable<Payment['consent_level']>, string> = {
  none: 'without asking',
  mandate: 'mandate',
  agent_asserted: 'confirmed by the agent',
  user_session: 'owner',
  user_passkey: 'owner with passkey',
}

function outLine(payment: Payment, label: string | null): Line {
  const { chain, token } = assetOf(payment)
  const state = paymentOutcome(payment)
  const { settled_atomic: taken, amount_atomic: agreed, consent_level: consent } = payment
  return {
    direction: 'out',
    state,
    amount: `-${formatAmount(taken ?? agreed, token.decimals)}`,
    token: token.symbol,
    network: chain.title,
    usd_value: state === 'paid' ? `-${formatUsd(paidUsdMicros(payment))}` : '0',
    counterparty: label ?? payment.payee_alias ?? '',
    address: payment.payee,
    merchant: merchantOf(payment) ?? '',
    consent: consent === null ? '' : consents[consent],
    note: payment.memo ?? '',
    tx_hash: payment.tx_hash ?? '',
    payment_id: payment.id,
  }
}

/** Returns the value of what the payee took, which may be less than was authorized. */
function paidUsdMicros(payment: Payment): bigint {
  const { settled_atomic: taken, amount_atomic: agreed, amount_usd_micros: usdMicros } = payment
  return taken === null ? usdMicros : (usdMicros * taken + agreed - 1n) / agreed
}

function inLine(deposit: NonNullable<ListedRow['deposit']>, config: Config): Line {
  const { chain, token } = assetOf(deposit)
  const isGone = deposit.finality === 'reorged'
  const usdMicros = isGone ? 0n : usdMicrosOf(token, deposit.amount_atomic, config)
  return {
    direction: 'in',
    state: isGone ? 'not_paid' : 'paid',
    amount: formatAmount(deposit.amount_atomic, token.decimals),
    token: token.symbol,
    network: chain.title,
    usd_value: usdMicros === undefined ? '' : formatUsd(usdMicros),
    counterparty: deposit.sender_alias ?? '',
    address: deposit.sender,
    tx_hash: deposit.tx_hash,
  }
}

function fileOf(columns: readonly string[], lines: readonly Line[]): Uint8Array<ArrayBuffer> {
  const shown = lines.slice(0, exportedMax)
  if (lines.length > exportedMax) shown.push({ [columns[0] ?? '']: cutWords })
  const texts = shown.map((line) =>
    columns.map((column) => csvCell(line[column] ?? '', signed.has(column))).join(','),
  )
  return new TextEncoder().encode(`\ufeff${[columns.join(','), ...texts].join('\r\n')}\r\n`)
}

/** Columns of our own numbers, which stay numbers whatever their sign. */
const signed = new Set(['amount', 'usd_value'])

const cutWords = `Only the newest ${exportedMax} lines are included. Choose earlier dates to export the rest.`
