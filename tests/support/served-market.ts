/** A market whose functions programs reach over the network, and what the typed client does there, to compare with. */
import { type Account, createClient } from '../../scripts/client/index.ts'
import { listen } from '../../scripts/local/process/listen.ts'
import { acquaint, fingerprintOf } from './acquaint.ts'
import { resolveAll, settledAsOnChain } from './books.ts'
import { atEnd } from './ending.ts'
import { functionsIn } from './functions.ts'
import { type Market, openMarket } from './market.ts'
import { type Agent, userAgent } from './world.ts'

export type ServedMarket = Market & { baseUrl: string }

/** Starts everything for this file and ends it after the file. */
export async function openServedMarket(): Promise<ServedMarket> {
  const market = await openMarket()
  const functions = functionsIn(market.world)
  const { url, close } = await listen((request) => {
    const found = functions.get(new URL(request.url).pathname.slice(1))
    return found ? found.fetch(request) : new Response(null, { status: 404 })
  })
  atEnd(close)
  return Object.assign(market, { baseUrl: url })
}

/** Opens a paying agent, a payee, and another whom it pays without a confirmation. */
export async function openParties(market: ServedMarket) {
  const [agent, payee] = [await market.agent('pay', { usdc: 100 }), await market.agent('read')]
  const known = await market.agent('read')
  await acquaint(market.db, agent, known.address, fingerprintOf(`id:${userAgent}`))
  return { agent, payee, known }
}

function accountOf({ baseUrl }: ServedMarket, { key }: Agent): Account {
  return createClient({ baseUrl, apiKey: key, deviceId: userAgent })
}

/** Transfers to both payees and buys a report, by the typed client alone. */
export async function payByClient(market: ServedMarket): Promise<Agent> {
  const { agent, payee, known } = await openParties(market)
  const account = accountOf(market, agent)
  const order = { recipient: payee.alias, chain: 'base-sepolia', token: 'USDC', amount: '5' }
  const { transfer_id } = await account.walletCustodialTransfer(order)
  await account.walletCustodialTransfer({ ...order, transfer_id, user_confirmed: true })
  const { attempt_id } = await account.x402PaymentPrepare({ resource_url: market.merchant.v2Url })
  await account.x402PaymentExecute({ attempt_id, user_confirmed: true })
  await account.walletCustodialTransfer({ ...order, recipient: known.alias, amount: '0.5' })
  return agent
}

/** Returns what the books of an account say, without names, ids and times. */
export async function booksOf(market: ServedMarket, agent: Agent): Promise<unknown> {
  await resolveAll(market)
  const account = accountOf(market, agent)
  const { reserved_usd } = await account.walletBalances({})
  const { limits } = await account.getIdentity()
  const rows = await market.db.sql`
    select kind, state, amount_atomic::text, consent_level from private.payments
     where account = ${agent.id} order by kind, amount_atomic`
  const settled = (await settledAsOnChain(market, agent)).length
  const left = limits.automatic_daily.left_usd
  return { reserved_usd, left, rows: rows.map((row) => ({ ...row })), settled }
}
