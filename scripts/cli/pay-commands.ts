/** Commands that pay: a recipient, or a resource that answers 402. */
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { ownerPage } from '../client/paid-fetch.ts'
import {
  buy,
  buying,
  buyingHelp,
  confirming,
  confirmingHelp,
  readHeaderLines,
  writeBought,
} from './buying.ts'
import { type Call, type Command, needed, textOption, textOptions } from './command.ts'
import { askFor } from './confirming.ts'
import { finalStatuses } from './events.ts'
import { exitCodes } from './exit-codes.ts'
import { facts } from './screen.ts'

const pay: Command = {
  usage: '<recipient> <amount>',
  summary: 'pay an alias or address',
  options: {
    ...confirming,
    chain: { type: 'string' },
    token: { type: 'string' },
    memo: { type: 'string' },
    wait: { type: 'boolean' },
    key: { type: 'string' },
  },
  help: `--chain     network, such as base; the one that has enough if absent
--token     USDC if absent
--memo      purpose, shown to the owner
--wait      wait until it is settled
${confirmingHelp}
--key       Idempotency-Key: the same key pays once, however often it is sent`,
  examples: [
    'aoa pay bookshop 5',
    'aoa pay 0x3478772121755d59A7DB2F33751374693Cbb9136 12.50 --chain base --yes',
  ],
  async run(call) {
    const { account, screen } = call
    const [chain, token, memo] = ['chain', 'token', 'memo'].map((name) => textOption(call, name))
    const order = {
      recipient: needed(call, 0, 'the recipient'),
      amount: needed(call, 1, 'the amount'),
      chain,
      token,
      memo,
    }
    const key = textOption(call, 'key') ?? randomUUID()
    const first = await account().walletCustodialTransfer(order, { idempotencyKey: key })
    let sent = first
    if (first.requires_user_confirm) {
      const { confirmation, transfer_id, summary } = first
      const url = ownerPage(confirmation)
      const isConfirmed = await askFor(call, { id: transfer_id, summary, url })
      if (isConfirmed !== true) {
        screen.show(first, () => nextOf(first))
        return isConfirmed
      }
      sent = await account().walletCustodialTransfer(
        { ...order, transfer_id, user_confirmed: true },
        { idempotencyKey: `${key}-confirmed` },
      )
    }
    if (call.values['wait'] === true) return settle(call, sent.transfer_id)
    screen.show(sent, () =>
      facts([
        ['transfer', sent.transfer_id],
        ['status', sent.status],
        ['amount', `${sent.amount} ${sent.token}`],
        ['to', sent.recipient.alias ?? sent.recipient.address],
        ['transaction', sent.tx_hash],
      ]),
    )
    return sent.status === 'unknown' ? exitCodes.outcomeOpen : 0
  },
}

function nextOf({ next }: { next?: { tool: string; arguments: object } }): string {
  return next ? `next: aoa call ${next.tool} '${JSON.stringify(next.arguments)}'` : ''
}

const wait: Command = {
  usage: '<transfer id>',
  summary: 'wait until a payment is settled, or will not be',
  examples: ['aoa wait 6d995e8a-3f2a-42b2-b4ad-d584bb0aebc4'],
  run: (call) => settle(call, needed(call, 0, 'the id of the payment')),
}

async function settle(call: Call, transfer_id: string): Promise<number> {
  const { account, screen, signal } = call
  let told = ''
  for (;;) {
    signal.throwIfAborted()
    const seen = await account().transferStatus({ transfer_id, wait_seconds: 25 })
    const state = [seen.status, seen.finality].filter(Boolean).join(', ')
    if (state !== told) screen.say(state)
    told = state
    if (!finalStatuses.includes(seen.status)) continue
    screen.show(seen, () =>
      facts([
        ['transfer', seen.transfer_id],
        ['status', seen.status],
        ['amount', `${seen.amount} ${seen.token}`],
        ['transaction', seen.tx_hash],
        ['see', seen.explorer_url],
      ]),
    )
    return seen.status === 'settled' ? 0 : exitCodes.needsConfirmation
  }
}

const request = {
  method: { type: 'string', short: 'X' },
  header: { type: 'string', short: 'H', multiple: true },
  data: { type: 'string', short: 'd' },
  ...buying,
} as const

const fetchCommand: Command = {
  usage: '<url>',
  summary: 'get a resource, and pay for it where it answers 402',
  options: request,
  help: `-X, --method   GET if absent, POST with --data
-H, --header   "Name: value"
-d, --data     body; @file reads one, @- standard input
${buyingHelp}`,
  examples: [
    'aoa fetch https://shop.example/report --max-usd 0.25',
    'aoa fetch https://shop.example/ask -d \'{"q": 1}\' -H "Content-Type: application/json" > answer.json',
  ],
  async run(call) {
    const answer = await buy(call, needed(call, 0, 'the address'), requestIn(call))
    if (typeof answer === 'number') return answer
    const write = (bytes: Uint8Array) => call.screen.write(bytes)
    const failed = await writeBought(call, answer, new WritableStream({ write }))
    if (failed !== undefined) return failed
    if (!answer.ok) call.screen.say(`the server answered ${answer.status}`)
    return answer.ok ? 0 : exitCodes.failed
  },
}

function requestIn(call: Call): RequestInit {
  const data = textOption(call, 'data')
  const body = data?.startsWith('@')
    ? readFileSync(data === '@-' ? 0 : data.slice(1), 'utf8')
    : data
  const headers = readHeaderLines(textOptions(call, 'header'))
  const method = textOption(call, 'method') ?? (body === undefined ? 'GET' : 'POST')
  return { method: method.toUpperCase(), headers, ...(body !== undefined && { body }) }
}

/** Commands by name. */
export const payCommands = { pay, wait, fetch: fetchCommand }
