/** The command that tells what happens in the account as it happens, without an address of its own. */
import { AccountError } from '../client/account-error.ts'
import { type Call, type Command, textOption, UsageError } from './command.ts'
import type { AccountEvent, ActivityItem } from './events.ts'
import { exitCodes } from './exit-codes.ts'
import { type ActivityPage, openFeed } from './feed.ts'
import { cell } from './screen.ts'
import { openWebhook } from './webhook.ts'

const listen: Command = {
  usage: '',
  summary: 'print what happens in the account as it happens, or post it to a program',
  options: {
    since: { type: 'string' },
    once: { type: 'boolean' },
    only: { type: 'string' },
    every: { type: 'string', default: '5' },
    forward: { type: 'string' },
  },
  help: `--since     first what happened since a time, such as 2026-11-30T08:00:00Z, or in the last 30m, 24h or 7d
--once      only that; then end
--only      categories and types, such as deposit,transfer.settled
--every     seconds between two looks, 5 if absent
--forward   address that each event is posted to, signed (Standard Webhooks): https, or http on this machine.
            The secret is that of AOA_WEBHOOK_SECRET, or a new one, which is printed on standard error

With --json, each event is a line. The same event has the same id each time.`,
  examples: [
    'aoa listen',
    'aoa listen --since 24h --once --only deposit --json',
    'aoa listen --forward http://127.0.0.1:3000/webhook',
  ],
  async run(call) {
    try {
      await follow(call, readOrder(call))
      return exitCodes.done
    } catch (error) {
      if (call.signal.aborted) return exitCodes.interrupted
      throw error
    }
  },
}

type Order = {
  since: number | undefined
  isOnce: boolean
  isWanted: (event: AccountEvent) => boolean
  everySeconds: number
  post: ((event: AccountEvent) => Promise<void>) | undefined
}

async function follow(call: Call, order: Order): Promise<void> {
  const { screen, now, pause } = call
  const readPage = (cursor: string | undefined) => readPatiently(call, order, cursor)
  const readEvents = openFeed({ readPage, now, since: order.since, say: screen.say })
  for (let looks = 0; ; looks += 1) {
    for (const event of (await readEvents()).filter(order.isWanted)) {
      const line = screen.isJson ? JSON.stringify(event) : eventLine(event)
      await screen.write(new TextEncoder().encode(`${line}\n`))
      await order.post?.(event)
    }
    if (order.isOnce) return
    if (looks === 0) screen.say('Listening. Ctrl-C ends it.')
    await pause(order.everySeconds * 1000)
  }
}

function eventLine({ timestamp, type, data }: AccountEvent): string {
  const { summary, status = '', amount, token = '' } = data
  const sum = amount === undefined ? '' : `${amount} ${token}`
  return [timestamp, type.padEnd(32), summary, status, sum].map(cell).join('  ').trimEnd()
}

const pauseSecondsMax = 300
const askedSecondsMax = 86_400

/** Reads a page; unless it is done once, it tries again while the service is away or asks to wait. */
async function readPatiently(
  call: Call,
  { isOnce, everySeconds }: Order,
  cursor: string | undefined,
): Promise<ActivityPage> {
  const options = { signal: call.signal, ...(!isOnce && { repetitionsMax: 0 }) }
  for (let failures = 0; ; failures += 1) {
    try {
      return await call.account().walletActivityList({ limit: '50', cursor }, options)
    } catch (error) {
      if (call.signal.aborted || isOnce || !isPassing(error)) throw error
      const asked = error instanceof AccountError ? (error.retryAfterSeconds ?? 0) : 0
      const grown = Math.min(everySeconds * 2 ** failures, pauseSecondsMax)
      const seconds = Math.min(Math.max(grown, asked), askedSecondsMax)
      call.screen.say(`${error.message} Trying again in ${seconds} s.`)
      await call.pause(seconds * 1000)
    }
  }
}

/** Returns true for an error that ends by itself. */
function isPassing(error: unknown): error is Error {
  if (!(error instanceof AccountError)) {
    // Node says this when the network fails while a token is replaced.
    return error instanceof TypeError && error.message === 'fetch failed'
  }
  const { code, status } = error
  return status === 0 || status === 429 || status >= 500 || code === 'conflict'
}

function readOrder(call: Call): Order {
  const since = sinceOf(call)
  const isOnce = call.values['once'] === true
  if (isOnce && since === undefined) throw new UsageError('--once needs --since')
  const everySeconds = Number(textOption(call, 'every'))
  if (!Number.isInteger(everySeconds) || everySeconds < 2 || everySeconds > 300) {
    throw new UsageError('--every takes a number of seconds from 2 to 300')
  }
  const isWanted = wantedBy(textOption(call, 'only'))
  const forward = textOption(call, 'forward')
  const post = forward === undefined ? undefined : openWebhook(call, forward)
  return { since, isOnce, isWanted, everySeconds, post }
}

const milliseconds: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 }

function sinceOf(call: Call): number | undefined {
  const text = textOption(call, 'since')
  if (text === undefined) return undefined
  const [, count, unit = ''] = /^(\d{1,5})([mhd])$/.exec(text) ?? []
  if (count !== undefined) return call.now() - Number(count) * (milliseconds[unit] ?? 0)
  const time = /^\d{4}-\d\d-\d\d(T.+)?$/.test(text) ? Date.parse(text) : Number.NaN
  if (!Number.isNaN(time)) return time
  throw new UsageError('--since takes a time such as 2026-11-30T08:00:00Z, or 30m, 24h or 7d')
}

const categories: readonly ActivityItem['category'][] = [
  'transfer',
  'deposit',
  'x402',
  'mandate',
  'vault',
  'mail',
  'security',
  'account',
  'defi',
]

function wantedBy(only: string | undefined): Order['isWanted'] {
  if (only === undefined) return () => true
  const names = only.split(',').map((name) => name.trim())
  for (const name of names) {
    const [category] = name.split('.')
    if (categories.some((known) => known === category)) continue
    throw new UsageError(`--only takes ${categories.join(', ')}, or types such as transfer.settled`)
  }
  return ({ type, data }) => names.includes(type) || names.includes(data.category)
}

/** Command by name. */
export const listenCommands = { listen }
