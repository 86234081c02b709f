/**
 * The whole product on a chain. Agents, merchants, the network and housekeeping act on it in random order,
 * and a book records the answers.
 */
import * as z from 'zod'
import { callRpc } from '../../../scripts/local/chain/rpc.ts'
import { runHousekeeping } from '../../../shared/payments/settle/housekeeping.ts'
import { attemptOf, execute, type Market, prepare } from '../market.ts'
import type { Agent, Answer } from '../world.ts'
import type { Dice } from './dice.ts'
import { agree } from './house.ts'

/** A transfer with its request and answer. */
type Asked = { payer: Agent; body: Record<string, unknown>; key: string; answer: Answer }

export type Street = {
  market: Market
  payers: readonly [Agent, Agent]
  payee: Agent
  asked: Asked[]
  attempts: { payer: Agent; id: string }[]
  isMining: boolean
  /** Block before which nothing is ever replaced. */
  since: number
}

export type Event = {
  name: string
  weight: number
  run(street: Street, dice: Dice): Promise<void>
}

export const fundsUsd = 100_000

/** Creates two payers who know their payee, on a chain where their money is final. */
export async function openStreet(market: Market): Promise<Street> {
  const payers = [
    await market.agent('pay', { usdc: fundsUsd }),
    await market.agent('pay', { usdc: fundsUsd }),
  ] as const
  const payee = await market.agent('read')
  for (const payer of payers) await market.acquaint(payer, payee.address)
  await market.passOnChain(1)
  const since = await headOf(market)
  return { market, payers, payee, asked: [], attempts: [], isMining: true, since }
}

const quantity = z.string().transform(Number)

async function headOf({ chain }: Market): Promise<number> {
  const [head] = await callRpc(chain.rpcUrl, [['eth_blockNumber']])
  return quantity.parse(head)
}

const path = '/wallet-custodial-transfer'
const answerBody = z.looseObject({
  status: z.string(),
  transfer_id: z.uuid(),
  consent_level: z.string().nullable(),
})

function order({ payee }: Street, dice: Dice) {
  const amount = dice.oneOf(['1', '5', '9', '20', '60'])
  const isConfirmed = dice.isLucky(40)
  const terms = { chain: 'base-sepolia', token: 'USDC', amount, recipient: payee.alias }
  return { ...terms, ...(isConfirmed ? { user_confirmed: true } : {}) }
}

async function ask(street: Street, payer: Agent, body: Record<string, unknown>): Promise<Answer> {
  const key = `ask-${street.asked.length}`
  const asked = { payer, body, key }
  const entry: Asked = { ...asked, answer: { status: 0, body: {}, headers: new Headers() } }
  street.asked.push(entry)
  entry.answer = await payer.post(path, body, { 'idempotency-key': key })
  return entry.answer
}

const automaticUsd = 200
const assertedUsd = 200

/** Returns the use of an account's limit at a consent level. */
export async function usedUsd({ market }: Street, { id }: Agent, level: string): Promise<number> {
  const rows = await market.db.sql<{ usd: string }[]>`
    select coalesce(sum(amount_usd_micros), 0)::text as usd from private.payments
     where account = ${id} and consent_level = ${level}
       and state in ('authorized', 'signed', 'settled')`
  return Number(rows[0]?.usd) / 1_000_000
}

/** Makes one transfer and checks that the rules explain its outcome. */
async function transfer(street: Street, dice: Dice): Promise<void> {
  const payer = dice.oneOf(street.payers)
  const body = order(street, dice)
  const amount = Number(body.amount)
  const isAsserted = (await usedUsd(street, payer, 'agent_asserted')) + amount <= assertedUsd
  const isAutomatic = (await usedUsd(street, payer, 'none')) + amount <= automaticUsd
  const isCarried = isAutomatic || ('user_confirmed' in body && isAsserted)
  const { status, body: answered } = await ask(street, payer, body)
  const told = { status, payment: answered['status'] }
  agree('transfer', told, {
    status: 200,
    payment: isCarried ? 'submitted' : 'awaiting_confirmation',
  })
}

/** Makes several transfers from one account at once; the invariants show if too many succeed. */
async function crowd(street: Street, dice: Dice): Promise<void> {
  const payer = dice.oneOf(street.payers)
  const bodies = Array.from({ length: 3 + dice.below(4) }, () => order(street, dice))
  const answers = await Promise.all(bodies.map((body) => ask(street, payer, body)))
  const odd = answers.filter(({ status }) => status !== 200 && status !== 503)
  agree(
    'a crowd',
    odd.map(({ body }) => body),
    [],
  )
}

/** Repeats key and body of a request and expects the same answer, also while the first is running. */
async function repeat({ asked }: Street, dice: Dice): Promise<void> {
  const first = dice.anyOf(asked.filter(({ answer }) => answer.status === 200))
  if (!first) return
  const { payer, body, key, answer } = first
  const again = await payer.post(path, body, { 'idempotency-key': key })
  agree('a repeated transfer', again.body, answer.body)
}

async function confirm(street: Street, dice: Dice): Promise<void> {
  const waiting = street.asked.filter(
    ({ answer }) => answer.body['status'] === 'awaiting_confirmation',
  )
  const first = dice.anyOf(waiting)
  if (!first) return
  const { transfer_id } = answerBody.parse(first.answer.body)
  const body = { ...first.body, transfer_id, user_confirmed: true }
  const times = 1 + dice.below(2)
  await Promise.all(Array.from({ length: times }, () => first.payer.post(path, body)))
}

async function readStatus({ asked }: Street, dice: Dice): Promise<void> {
  const first = dice.anyOf(asked.filter(({ answer }) => answer.status === 200))
  if (!first) return
  const { transfer_id } = answerBody.parse(first.answer.body)
  const { status } = await first.payer.post('/transfer-status', { transfer_id })
  agree('transfer-status', status, 200)
}

async function house({ market }: Street, dice: Dice): Promise<void> {
  const times = 1 + dice.below(2)
  await Promise.all(Array.from({ length: times }, () => runHousekeeping(market.world)))
}

const misbehaviours = ['paid/ok', 'settled/ok', 'settled/no-receipt', 'settled/status-500'] as const

/** Buys from a merchant. Settling waits for a block, so this happens only while blocks are mined. */
async function shop(street: Street, dice: Dice): Promise<void> {
  const { market, attempts, isMining } = street
  const payer = dice.oneOf(street.payers)
  const name = dice.oneOf(misbehaviours)
  const isHonest = isMining && dice.isLucky(40)
  const lie = isMining ? name : 'paid/ok'
  const url = isHonest ? market.merchant.v2Url : `${market.hostile.url}/${lie}`
  const id = attemptOf(await prepare(payer, { resource_url: url }))
  attempts.push({ payer, id })
  const times = 1 + dice.below(2)
  await Promise.all(Array.from({ length: times }, () => execute(payer, id)))
}

async function shopAgain({ attempts, isMining }: Street, dice: Dice): Promise<void> {
  const attempt = dice.anyOf(attempts)
  if (isMining && attempt) await execute(attempt.payer, attempt.id)
}

/** Lets time pass for the product and for the chain alike. */
export async function pass(street: Street, seconds: number): Promise<void> {
  const { market } = street
  await market.tick(seconds)
  await callRpc(market.chain.rpcUrl, [['evm_increaseTime', seconds]])
}

const setMining = async (street: Street, isMining: boolean) => {
  await callRpc(street.market.chain.rpcUrl, [['evm_setAutomine', isMining]])
  if (isMining) await mine(street)
  street.isMining = isMining
}

export async function startMining(street: Street): Promise<void> {
  await setMining(street, true)
}

async function mine({ market }: Street, blocks = 1): Promise<void> {
  await callRpc(market.chain.rpcUrl, [['anvil_mine', `0x${blocks.toString(16)}`]])
}

const reorganizedMax = 3

/** Replaces blocks, without mining: anvil confuses a block being mined with those that it replaces. */
async function reorganize(street: Street, dice: Dice): Promise<void> {
  const { market, isMining, since } = street
  if (!isMining) return
  await setMining(street, false)
  await mine(street)
  const depth = Math.min(1 + dice.below(reorganizedMax), (await headOf(market)) - since)
  await callRpc(market.chain.rpcUrl, [['anvil_reorg', depth, []]])
  await setMining(street, true)
}

async function forget({ market }: Street): Promise<void> {
  await callRpc(market.chain.rpcUrl, [['anvil_dropAllTransactions']])
}

export const events: readonly Event[] = [
  { name: 'transfer', weight: 12, run: transfer },
  { name: 'crowd', weight: 4, run: crowd },
  { name: 'repeat', weight: 4, run: repeat },
  { name: 'confirm', weight: 6, run: confirm },
  { name: 'status', weight: 8, run: readStatus },
  { name: 'housekeeping', weight: 8, run: house },
  { name: 'shop', weight: 5, run: shop },
  { name: 'shop again', weight: 2, run: shopAgain },
  { name: 'tick', weight: 4, run: (street, dice) => pass(street, 1 + dice.below(90)) },
  { name: 'stop mining', weight: 2, run: (street) => setMining(street, false) },
  { name: 'start mining', weight: 4, run: (street) => setMining(street, true) },
  { name: 'mine', weight: 3, run: (street, dice) => mine(street, 1 + dice.below(5)) },
  { name: 'reorganize', weight: 3, run: reorganize },
  { name: 'forget', weight: 2, run: forget },
]
