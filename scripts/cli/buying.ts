/** Parts of all commands that buy: their options, and a request that pays where the answer is 402. */
import { attemptOf, type PaidInit, PaymentError } from '../client/paid-fetch.ts'
import { type Call, textOption, UsageError } from './command.ts'
import { askFor } from './confirming.ts'
import { exitCodes } from './exit-codes.ts'
import { facts } from './screen.ts'

/** Options of a command that may need a confirmation. */
export const confirming = {
  yes: { type: 'boolean', short: 'y' },
  'no-wait': { type: 'boolean' },
} as const

/** Lines about them. */
export const confirmingHelp = `--yes       your user has agreed: do not ask again where that is enough
--no-wait   do not wait for the owner where only the owner may agree`

/** Options of a command that buys what answers 402. */
export const buying = {
  'max-usd': { type: 'string' },
  'dry-run': { type: 'boolean' },
  memo: { type: 'string' },
  ...confirming,
} as const

/** Lines about them. */
export const buyingHelp = `--max-usd      most that it may cost, 1 if absent; 0 pays nothing
--dry-run      show the terms and pay nothing
--memo         purpose, shown to the owner
${confirmingHelp}`

/** Sends a request and pays for it where that is asked for. Returns the answer, or an exit code without one. */
export async function buy(
  call: Call,
  url: string,
  request: RequestInit,
): Promise<Response | number> {
  if (!URL.canParse(url)) throw new UsageError(`${url} is not an address`)
  if (call.values['dry-run'] === true) return showTerms(call, url, request)
  let refused: number | undefined
  const init: PaidInit = {
    ...request,
    maxUsd: textOption(call, 'max-usd') ?? '1',
    memo: textOption(call, 'memo'),
    signal: call.signal,
    confirm: async ({ summary, url: page, terms }) => {
      const answer = await askFor(call, { id: terms.attempt_id, summary, url: page })
      if (answer === true) return true
      refused = answer
      return false
    },
  }
  try {
    return await call.account().fetch(url, init)
  } catch (error) {
    if (error instanceof PaymentError && refused !== undefined) return refused
    throw error
  }
}

async function showTerms(call: Call, url: string, request: RequestInit): Promise<number> {
  try {
    const init = { ...request, isDryRun: true, signal: call.signal }
    const answer = await call.account().fetch(url, init)
    call.screen.say(`the server answered ${answer.status}: nothing to pay`)
  } catch (error) {
    if (!(error instanceof PaymentError)) throw error
    const { terms, summary } = error.terms
    call.screen.show(error.terms, () =>
      facts([
        ['what', summary],
        ['price', `${terms.amount} ${terms.token}`],
        ['in USD', terms.amount_usd],
        ['network', terms.network],
        ['to', terms.pay_to],
        ['by', `${terms.protocol} ${terms.version}, ${terms.scheme}`],
      ]),
    )
  }
  return 0
}

/** Writes what was bought; returns the exit code if it cannot be written whole. */
export async function writeBought(
  { screen }: Call,
  answer: Response,
  out: WritableStream<Uint8Array>,
): Promise<number | undefined> {
  try {
    if (answer.body) await answer.body.pipeTo(out)
    else await out.close()
    return undefined
  } catch (error) {
    const attempt = attemptOf(answer)
    screen.say(
      `the answer was not written whole: ${error instanceof Error ? error.message : String(error)}`,
    )
    if (attempt === undefined) return exitCodes.failed
    const again = `aoa call x402_payment_execute '{"attempt_id": "${attempt}"}'`
    screen.say(`It is paid for. This gives it again and pays nothing: ${again}`)
    return exitCodes.outcomeOpen
  }
}

/** Reads lines such as "Name: value". */
export function readHeaderLines(lines: readonly string[]): Headers {
  const headers = new Headers()
  for (const line of lines) {
    const [, name = '', value = ''] = /^([^:]+):\s*(.*)$/.exec(line) ?? []
    if (name === '') throw new UsageError(`-H takes "Name: value", not ${line}`)
    headers.append(name, value)
  }
  return headers
}
