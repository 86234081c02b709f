/** The command that makes a first purchase: the report of the service's sandbox, for test money. */
import { isObject } from '../client/account-error.ts'
import { atomic, ownerPage } from '../client/paid-fetch.ts'
import { confirming, confirmingHelp } from './buying.ts'
import { clientOptions } from './client-options.ts'
import type { Call, Command } from './command.ts'
import { askFor } from './confirming.ts'
import { exitCodes } from './exit-codes.ts'
import { facts } from './screen.ts'

const usdMax = '0.01'

const demo: Command = {
  usage: '',
  summary: 'buy a report of the sandbox for 0.01 test USDC, and see what happens',
  options: confirming,
  help: `The sandbox takes test money only; a service that moves real money has none.
${confirmingHelp}`,
  examples: ['aoa demo', 'aoa demo --yes'],
  async run(call) {
    const { account, screen } = call
    const sandbox = await findSandbox(call)
    if (!sandbox) return exitCodes.failed
    const { report: url, networks } = sandbox
    const prepared = await account().x402PaymentPrepare({ resource_url: url })
    const { attempt_id, terms, summary, confirmation } = prepared
    if (atomic(terms.amount_usd) > atomic(usdMax)) {
      screen.say(`The report costs ${terms.amount_usd} USD, more than ${usdMax}. Nothing was paid.`)
      return exitCodes.overLimit
    }
    if (terms.token !== 'USDC' || !networks.includes(terms.network)) {
      screen.say(
        `The report costs ${terms.token} on ${terms.network}, no test money. Nothing was paid.`,
      )
      return exitCodes.failed
    }
    if (prepared.requires_user_confirm) {
      const page = ownerPage(confirmation)
      const isConfirmed = await askFor(call, { id: attempt_id, summary, url: page })
      if (isConfirmed !== true) return isConfirmed
    }
    const user_confirmed = prepared.requires_user_confirm
    const paid = await account().x402PaymentExecute({ attempt_id, user_confirmed })
    const { items } = await account().walletActivityList({ category: 'x402', limit: '1' })
    const why = paid.status === 'settled' ? undefined : (paid.hint ?? paid.reasons[0]?.message)
    screen.show({ prepared, paid, activity: items }, () =>
      facts([
        ['challenge', `402 Payment Required at ${url}`],
        ['terms', `${terms.amount} ${terms.token} on ${terms.network}`],
        ['to', terms.pay_to],
        ['by', `${terms.protocol} ${terms.version}, ${terms.scheme}`],
        ['payment', [paid.status, why].filter(Boolean).join(': ')],
        ['transaction', paid.tx_hash],
        ['bought', boughtFrom(paid.response)],
        ['activity', items[0]?.summary],
        ['attempt', `${attempt_id} (aoa wait ${attempt_id})`],
      ]),
    )
    return codes[paid.status] ?? exitCodes.failed
  },
}

const codes: Readonly<Record<string, number>> = {
  settled: exitCodes.done,
  awaiting_confirmation: exitCodes.needsConfirmation,
  paid_not_delivered: exitCodes.outcomeOpen,
  unknown: exitCodes.outcomeOpen,
}

/** Asks the service for its sandbox. Returns the address of a report and the test networks, or says that there is none. */
async function findSandbox(
  call: Call,
): Promise<{ report: string; networks: unknown[] } | undefined> {
  const { baseUrl } = clientOptions(call)
  const answer = await call.fetch(`${baseUrl}/sandbox`, { signal: call.signal })
  const found: unknown = await answer.json().catch(() => undefined)
  const { reports, networks, message } = isObject(found) ? found : {}
  const report: unknown = Array.isArray(reports) ? reports[0] : undefined
  if (typeof report === 'string' && Array.isArray(networks)) return { report, networks }
  call.screen.say(typeof message === 'string' ? message : `${baseUrl} has no sandbox.`)
  return undefined
}

function boughtFrom(response: { status: number; body_json?: unknown } | undefined): string {
  const bought = response?.body_json
  const report = isObject(bought) ? bought['report'] : undefined
  return typeof report === 'string' ? report : `an answer with status ${response?.status ?? 'none'}`
}

/** Commands by name. */
export const demoCommands = { demo }
