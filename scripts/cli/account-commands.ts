/** Commands that look at the account, and the one that stops everything. */
import { csvCell } from '../../shared/text/csv.ts'
import { operations } from '../client/operations.ts'
import { pages } from '../client/pages.ts'
import { type Call, type Command, needed, textOption, UsageError } from './command.ts'
import { type Row, table } from './screen.ts'

const balance: Command = {
  usage: '',
  summary: 'what the wallet holds',
  examples: ['aoa balance', 'aoa balance --json'],
  async run({ account, screen }) {
    const held = await account().walletBalances()
    const rows = held.balances.map(({ chain, token, amount, usd_value }) => ({
      network: held.chains.find((one) => one.chain === chain)?.name ?? chain,
      token,
      amount,
      usd: usd_value,
    }))
    const missing = held.chains.filter(({ status }) => status !== 'ok')
    for (const { name } of missing)
      screen.say(`${name} does not answer, so what it holds is missing`)
    const sum = `${held.available_usd} USD to spend, ${held.reserved_usd} USD reserved`
    screen.show(held, () => `${table(rows, 'The wallet is empty.')}\n\n${sum}`)
    return 0
  },
}

const activity: Command = {
  usage: '',
  summary: 'what happened, newest first',
  options: {
    limit: { type: 'string', default: '20' },
    category: { type: 'string' },
    csv: { type: 'boolean' },
  },
  help: `--limit      number of items, 20 if absent
--category   transfer, deposit, x402, mandate, vault, mail, security, account or defi
--csv        as comma-separated values (RFC 4180)`,
  examples: ['aoa activity', 'aoa activity --category x402 --csv > payments.csv'],
  async run(call) {
    const max = Number(textOption(call, 'limit'))
    if (!Number.isInteger(max) || max < 1) throw new UsageError('--limit takes a number from 1')
    type List = ReturnType<Call['account']>['walletActivityList']
    type Item = Awaited<ReturnType<List>>['items'][number]
    const category = textOption(call, 'category') as Item['category'] | undefined
    const found: Item[] = []
    const limit = String(Math.min(max, 50))
    for await (const { items } of pages(call.account().walletActivityList, { category, limit })) {
      found.push(...items)
      if (found.length >= max) break
    }
    const shown = found.slice(0, max)
    const rows = shown.map(({ at, category: kind, summary, amount, token, status, tx_hash }) => ({
      at,
      kind,
      amount: amount === undefined ? '' : `${amount} ${token ?? ''}`,
      status,
      summary,
      ...(call.values['csv'] === true && { tx_hash }),
    }))
    if (call.values['csv'] === true) console.log(csv(rows))
    else call.screen.show(shown, () => table(rows, 'Nothing has happened yet.'))
    return 0
  },
}

function csv(rows: readonly Row[]): string {
  const names = Object.keys(rows[0] ?? { at: '', kind: '', amount: '', status: '', summary: '' })
  const field = (value: Row[string]) => csvCell(String(value ?? ''))
  return [names.map(field), ...rows.map((row) => names.map((name) => field(row[name])))]
    .map((fields) => fields.join(','))
    .join('\r\n')
}

const freeze: Command = {
  usage: '[reason]',
  summary: 'stop the account at once; only the owner can undo it',
  examples: ['aoa freeze "the agent does odd things"'],
  async run({ account, screen, words }) {
    const reason = words.join(' ')
    const frozen = await account().accountFreeze(reason === '' ? {} : { reason })
    screen.show(frozen, () =>
      [
        `Frozen since ${frozen.frozen_at}.`,
        table(
          frozen.may_settle.map((one) => ({
            amount: `${one.amount} ${one.token}`,
            to: one.payee,
            until: one.can_settle_until,
          })),
          'Nothing that was signed before can still be paid.',
        ),
      ].join('\n'),
    )
    return 0
  },
}

const mandate: Command = {
  usage: '[<host> --each 0.50 [--day 5] [--total 20] [--days 30]]',
  summary: 'list mandates, or ask the owner for one',
  options: {
    each: { type: 'string' },
    day: { type: 'string' },
    total: { type: 'string' },
    days: { type: 'string', default: '30' },
  },
  help: `--each    most USD for one payment
--day     most USD in 24 hours
--total   most USD over its life
--days    days that it is for, 30 if absent, 90 at most`,
  examples: ['aoa mandate', 'aoa mandate api.shop.example --each 0.10 --day 2'],
  async run(call) {
    const [host] = call.words
    if (host === undefined) return listMandates(call)
    const each = textOption(call, 'each')
    if (each === undefined) throw new UsageError('--each is missing: the most USD for one payment')
    const days = Number(textOption(call, 'days'))
    const asked = await call.account().paymentMandateCreate({
      merchant_domain: host,
      max_amount_per_payment_usd: each,
      max_amount_per_day_usd: textOption(call, 'day'),
      max_total_usd: textOption(call, 'total'),
      ttl_seconds: Math.round(days * 86_400),
    })
    call.screen.show(asked, () => `${asked.summary}\nThe owner decides at ${asked.approval_url}`)
    return 0
  },
}

async function listMandates({ account, screen }: Call): Promise<number> {
  const { mandates } = await account().paymentMandateStatus()
  const rows = mandates.map((one) => ({
    host: one.merchant_domain,
    status: one.status,
    each: one.caps.max_amount_per_payment_usd,
    spent: one.spent.total_usd,
    until: one.expires_at,
    id: one.mandate_id,
  }))
  screen.show(mandates, () => table(rows, 'There are no mandates.'))
  return 0
}

const call: Command = {
  usage: '<operation> [<json>]',
  summary: 'call any operation, such as one that an answer names in next',
  examples: ['aoa call resolve_transfer_recipient \'{"recipient": "bookshop"}\''],
  async run(given) {
    const id = needed(given, 0, 'the operation')
    const found = Object.entries(operations).find(([, { id: known }]) => known === id)
    if (!found) {
      const known = Object.values(operations).map((one) => one.id)
      throw new UsageError(`there is no operation ${id}; there are ${known.join(', ')}`)
    }
    const [name] = found
    const account: Readonly<Record<string, unknown>> = given.account()
    const answer = await (account[name] as Operation)(inputIn(given.words[1]))
    given.screen.show(answer, () => JSON.stringify(answer, null, 2))
    return 0
  },
}

type Operation = (input: unknown) => Promise<unknown>

function inputIn(text = '{}'): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new UsageError('the arguments are not JSON')
  }
}

/** Commands by name. */
export const accountCommands = { balance, activity, freeze, mandate, call }
