/** Everything that an agent can call, with arguments that are true, false, forged or out of place. */
import * as z from 'zod'
import type { Dice } from '../model/dice.ts'
import type { Agent, Answer } from '../world.ts'
import { headerOf, requirementV2 } from '../x402.ts'
import type { Account, Act } from './street.ts'

const amounts = ['0.01', '1', '9.99', '10', '10.01', '50', '120', '200', '200.01', '999'] as const
const smallAmounts = ['0.01', '0.5', '1', '5'] as const
const pricesAtomic = [
  '10000',
  '10000',
  '500000',
  '900000',
  '5000000',
  '10000001',
  '90000000',
] as const
const strayId = '00000000-0000-4000-8000-000000000000'

/** Picks mostly the key with full scope, from the usual device. */
function caller(
  { agents }: Account,
  dice: Dice,
): { agent: Agent; headers: Record<string, string> } {
  const [full, pay, read] = agents
  const agent = dice.isLucky(75) ? full : dice.oneOf([pay, pay, read])
  const device = dice.isLucky(85) ? {} : { 'x-device-id': `device-${dice.below(2)}` }
  const key = dice.isLucky(92) ? {} : { 'idempotency-key': `key-${dice.below(3)}` }
  return { agent, headers: { ...device, ...key } }
}

export async function call(
  account: Account,
  dice: Dice,
  path: string,
  body: object,
): Promise<Answer> {
  const { agent, headers } = caller(account, dice)
  const answer = await agent.post(path, body, headers)
  note(account, answer)
  return answer
}

const heard = z.object({
  transfer_id: z.string().optional(),
  attempt_id: z.string().optional(),
  mandate_id: z.string().optional(),
})

function note({ transfers, attempts, mandates }: Account, { body }: Answer): void {
  const { transfer_id, attempt_id, mandate_id } = heard.parse(body)
  if (transfer_id !== undefined) transfers.push(transfer_id)
  if (attempt_id !== undefined) attempts.push(attempt_id)
  if (mandate_id !== undefined) mandates.push(mandate_id)
}

/** Picks a recent id, and at times one that the agent never received. */
const anyId = (ids: string[], dice: Dice) =>
  dice.isLucky(93) ? (dice.anyOf(ids.slice(-4)) ?? strayId) : strayId

const confirmed = (dice: Dice) => (dice.isLucky(35) ? {} : { user_confirmed: dice.isLucky(70) })

export function order(account: Account, dice: Dice) {
  const recipient = dice.isLucky(10) ? account.street.other.alias : dice.oneOf(account.payees)
  const amount = dice.oneOf(dice.isLucky(40) ? smallAmounts : amounts)
  return { recipient, chain: 'base-sepolia', token: 'USDC', amount }
}

export const transferPath = '/wallet-custodial-transfer'

const transfer = (account: Account, dice: Dice) =>
  call(account, dice, transferPath, { ...order(account, dice), ...confirmed(dice) })

/** Continues a transfer that may have had other terms. */
async function goOn(account: Account, dice: Dice): Promise<void> {
  const transfer_id = anyId(account.transfers, dice)
  const shown = await account.agents[0].post('/transfer-status', { transfer_id })
  const { to, amount } = shown.body
  const same = typeof to === 'string' ? { recipient: to, amount } : {}
  const terms = dice.isLucky(85) ? same : {}
  const body = { ...order(account, dice), ...terms, transfer_id, user_confirmed: dice.isLucky(90) }
  await call(account, dice, transferPath, body)
}

/** Sends several payments at once, which race for the limits. */
async function crowd(account: Account, dice: Dice): Promise<void> {
  const body = { ...order(account, dice), ...confirmed(dice) }
  const same = account.attempts
    .slice(-1)
    .map((attempt_id) => ({ attempt_id, user_confirmed: true }))
  await Promise.all([
    ...Array.from({ length: 2 + dice.below(3) }, () => call(account, dice, transferPath, body)),
    ...same.map((one) => call(account, dice, '/x402-payment-execute', one)),
  ])
}

/** Prepares a purchase. The shop changes its terms at will, and the agent may forge the challenge. */
async function prepare(account: Account, dice: Dice): Promise<void> {
  const { shop } = account.street
  const asks = {
    amount: dice.oneOf(pricesAtomic),
    payTo: dice.oneOf([shop.payTo, ...account.payees]),
  }
  shop.asks = dice.isLucky(60) ? { amount: dice.oneOf(pricesAtomic) } : asks
  shop.names = dice.isLucky(90) ? undefined : 'https://elsewhere.example/data'
  const url = new URL(shop.url)
  if (dice.isLucky(15)) url.hostname = 'localhost'
  const resource_url = new URL(`/data/${dice.below(2)}`, url).href
  const forged = dice.isLucky(50) ? shop.challenge() : forgery(account, dice)
  const given = dice.isLucky(50) ? forged : { payment_required: headerOf(forged) }
  const body = { resource_url, ...(dice.isLucky(60) ? {} : given) }
  await call(account, dice, '/x402-payment-prepare', body)
}

function forgery({ street: { shop }, payees }: Account, dice: Dice) {
  const asks = { amount: dice.oneOf(pricesAtomic), payTo: dice.oneOf(payees) }
  return { ...shop.challenge(), accepts: [requirementV2(asks)] }
}

const execute = (account: Account, dice: Dice) =>
  call(account, dice, '/x402-payment-execute', {
    attempt_id: anyId(account.attempts, dice),
    user_confirmed: dice.isLucky(60),
  })

async function shopNow(account: Account, dice: Dice): Promise<void> {
  await prepare(account, dice)
  await execute(account, dice)
}

/** Buys something small from an honest shop, without a confirmation. */
export async function buy(account: Account, dice: Dice): Promise<void> {
  const { shop } = account.street
  Object.assign(shop, {
    asks: { amount: dice.oneOf(['10000', '12000', '900000']) },
    names: undefined,
  })
  const resource_url = `${shop.url}/data/${dice.below(4)}`
  const { agent } = dice.isLucky(90) ? { agent: account.agents[0] } : caller(account, dice)
  for (let times = 1 + dice.below(3); times > 0; times -= 1) {
    const prepared = await agent.post('/x402-payment-prepare', { resource_url })
    note(account, prepared)
    const attempt_id = account.attempts.at(-1) ?? strayId
    await agent.post('/x402-payment-execute', { attempt_id, user_confirmed: false })
  }
}

export function askMandate(account: Account, dice: Dice) {
  const { host } = new URL(account.street.shop.url)
  const cap = (amount: string) => (dice.isLucky(50) ? undefined : amount)
  const pins = account.payees.filter(() => dice.isLucky(50))
  return call(account, dice, '/payment-mandate-create', {
    merchant_domain: dice.oneOf(['127.0.0.1', '127.0.0.1', host, 'localhost', 'shop.example.com']),
    max_amount_per_payment_usd: dice.oneOf(['0.5', '5', '50', '200']),
    max_amount_per_day_usd: cap(dice.oneOf(['200', '210'])),
    max_total_usd: cap(dice.oneOf(['200', '205.5'])),
    max_payments: dice.isLucky(60) ? undefined : 1 + dice.below(3),
    ttl_seconds: dice.oneOf([60, 200_000, 900_000]),
    include_subdomains: dice.isLucky(20),
    pay_to: dice.isLucky(35) && pins.length > 0 ? pins : undefined,
  })
}

async function revoke(account: Account, dice: Dice): Promise<void> {
  const mandate_id = anyId(account.mandates, dice)
  const answer = await call(account, dice, '/payment-mandate-revoke', { mandate_id })
  const noted = account.book.mandates.get(mandate_id)
  if (answer.status === 200 && noted) noted.until = Math.min(noted.until, nowOf(account))
}

/** Returns the product's time in milliseconds. */
export const nowOf = ({ street }: Account) => street.market.world.now().getTime()

/** Calls about another account's data with this agent's key. */
function trespass(account: Account, dice: Dice) {
  const decision = { decision: 'approved', outcome: 'approved', digest: '0'.repeat(64) }
  const paths = ['/approve', '/mandate', '/web', '/owner-decide-payment'] as const
  return call(account, dice, dice.oneOf(paths), { ...decision, id: anyId(account.mandates, dice) })
}

async function look(account: Account, dice: Dice): Promise<void> {
  const { agent } = caller(account, dice)
  await agent.get('/get-identity')
  await agent.get('/payment-mandate-status')
  await agent.post('/resolve-transfer-recipient', { recipient: dice.oneOf(account.payees) })
}

export const agentActs: readonly Act[] = [
  { name: 'transfer', weight: 8, run: transfer },
  { name: 'go on', weight: 4, run: goOn },
  { name: 'crowd', weight: 2, run: crowd },
  { name: 'prepare', weight: 3, run: prepare },
  { name: 'execute', weight: 3, run: execute },
  { name: 'shop', weight: 8, run: shopNow },
  { name: 'buy', weight: 6, run: buy },
  { name: 'ask for a mandate', weight: 5, run: askMandate },
  { name: 'revoke', weight: 1, run: revoke },
  { name: 'freeze', weight: 1, run: (account, dice) => freeze(account, dice) },
  { name: 'trespass', weight: 1, run: trespass },
  { name: 'look', weight: 1, run: look },
]

/** Freezes the account, but rarely, because little can follow. */
async function freeze(account: Account, dice: Dice): Promise<void> {
  if (dice.isLucky(30)) await call(account, dice, '/account-freeze', {})
}
