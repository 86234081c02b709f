/** The thief's actions with the key, through the API alone. */
import * as z from 'zod'
import type { Answer } from '../world.ts'
import type { ActionOf } from './actions.ts'
import { freezeNow } from './book.ts'
import { resourceOf } from './merchant.ts'
import { shopHost } from './network.ts'
import { type Asked, ownerIn, type Play, pick } from './play.ts'

const answerBody = z.looseObject({ transfer_id: z.uuid(), status: z.string() })
const preparedBody = z.looseObject({ attempt_id: z.uuid() })
const statusBody = z.looseObject({ status: z.string() })

export async function transfer(
  play: Play,
  { micros, to, word }: ActionOf<'transfer'>,
): Promise<void> {
  const body = {
    chain: 'base-sepolia',
    token: 'USDC',
    amount: usdText(micros),
    recipient: payeeAt(play, to),
    ...(word ? { user_confirmed: true } : {}),
  }
  remember(play, await send(play, body), { kind: 'transfer', micros, body })
}

export async function transfers(play: Play, action: ActionOf<'transfers'>): Promise<void> {
  const one = { ...action, do: 'transfer' as const }
  await Promise.all(Array.from({ length: action.times }, () => transfer(play, one)))
}

async function post(play: Play, path: string, body: object): Promise<Answer> {
  const answer = await play.product.post(play.thief, path, body)
  const isFrozen = answer.body['error'] === 'account_frozen'
  if (isFrozen && !play.book.isStopped) {
    play.book.broken.push('alarm: the account is frozen, and nobody froze it')
  }
  return answer
}

function send(play: Play, body: object): Promise<Answer> {
  return post(play, '/wallet-custodial-transfer', body)
}

function remember(play: Play, { body: answer }: Answer, asked: Omit<Asked, 'id' | 'status'>): void {
  const read = answerBody.safeParse(answer)
  if (!read.success) return
  play.asked.push({ ...asked, id: read.data.transfer_id, status: read.data.status })
}

export async function buy(play: Play, { rail, micros, to, crowd }: ActionOf<'buy'>): Promise<void> {
  const payee = payeeAt(play, to)
  const resource_url = resourceOf({ rail, micros, payee, crowd, at: play.asked.length })
  const prepared = await post(play, '/x402-payment-prepare', { resource_url })
  const read = preparedBody.safeParse(prepared.body)
  if (!read.success) return
  const id = read.data.attempt_id
  const asked: Asked = { kind: 'x402', id, micros, body: {}, status: 'prepared' }
  play.asked.push(asked)
  await execute(play, asked)
}

async function execute(play: Play, asked: Asked): Promise<void> {
  const body = { attempt_id: asked.id, user_confirmed: true }
  keepStatus(asked, await post(play, '/x402-payment-execute', body))
}

function keepStatus(asked: Asked, { body }: Answer): void {
  const read = statusBody.safeParse(body)
  if (read.success) asked.status = read.data.status
}

/** Continues a payment that waited, or sends it again. */
export async function again(play: Play, { which }: ActionOf<'again'>): Promise<void> {
  const asked = pick(play.asked, which)
  if (!asked) return
  if (asked.kind === 'x402') return execute(play, asked)
  const more = { transfer_id: asked.id, user_confirmed: true }
  keepStatus(asked, await send(play, { ...asked.body, ...more }))
}

export async function status(play: Play, { which }: ActionOf<'status'>): Promise<void> {
  const asked = pick(play.asked, which)
  if (asked) await play.product.post(play.thief, '/transfer-status', { transfer_id: asked.id })
}

const exposureBody = z.object({
  horizons: z.array(z.object({ hours: z.int(), total_usd: z.string() })),
})

/** Records the highest losses that account_exposure states. */
export async function expose(play: Play): Promise<void> {
  const { body } = await play.product.get(play.thief, '/account-exposure')
  const at = play.clock.seconds()
  for (const { hours, total_usd } of exposureBody.parse(body).horizons.slice(0, 2)) {
    play.book.stated.push({ at, hours, micros: microsOf(total_usd) })
  }
}

const openPayment = z.object({ payee: z.string(), amount_atomic: z.string() })
const freezeBody = z.object({
  may_settle: z.array(openPayment),
  next_cursor: z.string().nullable(),
})
const freezesMax = 40

/** Freezes the account and repeats the call until every payment is named. */
export async function freeze(play: Play): Promise<void> {
  const { book, clock } = play
  const before = await play.outflows.read()
  const isNew = freezeNow(book) === undefined
  book.isStopped = true
  const named: { payee: string; micros: bigint }[] = []
  let cursor = '0'
  for (let call = 0; call < freezesMax; call += 1) {
    const answer = await play.product.post(play.reader, '/account-freeze', { cursor })
    if (answer.status !== 200) return
    const { may_settle, next_cursor } = freezeBody.parse(answer.body)
    for (const { payee, amount_atomic } of may_settle) {
      named.push({ payee: payee.toLowerCase(), micros: BigInt(amount_atomic) })
    }
    if (next_cursor === null) break
    cursor = next_cursor
  }
  const until = Number.POSITIVE_INFINITY
  if (isNew) book.freezes.push({ at: clock.seconds(), until, before, named })
}

const mandateBody = z.object({ mandate_id: z.uuid(), digest: z.string() })

/** Requests a mandate for the thief's own shop, which the owner approves without a check. */
export async function mandate(play: Play, { micros }: ActionOf<'ask mandate'>): Promise<void> {
  const order = {
    merchant_domain: shopHost,
    max_amount_per_payment_usd: usdText(micros),
    max_total_usd: usdText(2 * micros),
    ttl_seconds: 86_400,
  }
  const asked = await play.product.post(play.thief, '/payment-mandate-create', order)
  const read = mandateBody.safeParse(asked.body)
  if (!read.success) return
  const { mandate_id, digest } = read.data
  const decision = { mandate: mandate_id, decision: 'approved', digest }
  const answer = await (await ownerIn(play)).call('owner_decide_mandate', decision)
  if (!Array.isArray(answer) || answer[0]?.['outcome'] !== 'approved') return
  play.book.mandates.push({ at: play.clock.seconds(), micros: BigInt(2 * micros) })
}

function payeeAt(play: Play, to: number): string {
  return pick(play.payees, to) ?? ''
}

/** Converts micro-USD to the API's notation. */
export function usdText(micros: number): string {
  const [whole, part] = [Math.floor(micros / 1_000_000), micros % 1_000_000]
  return part === 0 ? `${whole}` : `${whole}.${`${part}`.padStart(6, '0').replace(/0+$/, '')}`
}

export function microsOf(usd: string): bigint {
  const [whole = '0', part = ''] = usd.split('.')
  return BigInt(whole) * 1_000_000n + BigInt(part.padEnd(6, '0'))
}
