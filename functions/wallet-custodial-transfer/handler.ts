import {
  connectedChains,
  findChain,
  tokenByAddress,
  tokenBySymbol,
} from '../../shared/chains/registry.ts'
import { fail, isRefusal } from '../../shared/contract/errors.ts'
import type { Context, Handler } from '../../shared/http/handler.ts'
import { formatAmount, parseAmount } from '../../shared/money/amount.ts'
import { usdMicrosOf } from '../../shared/money/usd.ts'
import type { Authorized } from '../../shared/payments/authorize.ts'
import { confirmationOf } from '../../shared/payments/consent.ts'
import type { Entered, Payment } from '../../shared/payments/payment.ts'
import { assetOf, enteredRow } from '../../shared/payments/payment.ts'
import { readRecipient } from '../../shared/payments/recipient.ts'
import { sendTransfer } from '../../shared/payments/transfer.ts'
import { reasonBody, summaryOf } from '../../shared/payments/words.ts'
import type { walletCustodialTransfer } from './contract.ts'

/** How long a transfer waits for a confirmation before it has to be entered again. */
const expiresInSeconds = 3_600

type Input = Parameters<Handler<typeof walletCustodialTransfer>>[0]

export const run: Handler<typeof walletCustodialTransfer> = async (input, context) => {
  const order = readOrder(input, context)
  if (isRefusal(order)) return order
  const entered = await enter(input, order, context)
  if (isRefusal(entered)) return entered
  const payment = entered.payment_row
  if (payment.payee === payment.wallet) {
    return fail('recipient_refused', { message: 'This is your own wallet.' })
  }
  if (!isOpen(payment)) return transferBody(payment)
  const authorized = await sendTransfer(context, entered, input.user_confirmed === true)
  if (isRefusal(authorized)) return authorized
  return answerOf(context, payment, authorized)
}

/** What is asked for, in atomic units and canonical addresses. */
function readOrder(input: Input, { world: { config } }: Context) {
  const connected = connectedChains(config)
  const chain = findChain(input.chain)
  if (!chain || !connected.includes(chain)) {
    const available = connected.map(({ caip2 }) => caip2)
    return fail('unsupported_chain', { details: { available } })
  }
  const token = tokenBySymbol(chain, input.token) ?? tokenByAddress(chain, input.token)
  if (!token) {
    const available = chain.tokens.map(({ symbol }) => symbol)
    return fail('unsupported_token', { details: { available } })
  }
  const amountAtomic = parseAmount(input.amount, token.decimals)
  if (amountAtomic === undefined || amountAtomic === 0n) {
    const message = `amount: more than zero, with at most ${token.decimals} decimals`
    return fail('invalid_request', { message })
  }
  const usdMicros = usdMicrosOf(token, amountAtomic, config)
  if (usdMicros === undefined) {
    return fail('unsupported_token', { message: `${token.symbol} has no USD rate configured.` })
  }
  const recipient = readRecipient(input.recipient, [chain], config.MAIL_DOMAIN)
  if (isRefusal(recipient)) return recipient
  return { chain, token, amountAtomic, usdMicros, recipient }
}

type Order = Exclude<ReturnType<typeof readOrder>, { refusal: unknown }>

/** Enters a new transfer, or finds the one that the caller continues with the same terms. */
async function enter(input: Input, order: Order, context: Context) {
  const device = await context.device()
  const { recipient, token, chain } = order
  if (input.transfer_id !== undefined) {
    const question = { payment: input.transfer_id, kind: 'transfer', device }
    const found = await context.db.one('payment_facts', question, enteredRow)
    if (!found) return fail('payment_not_found')
    return hasTerms(found, order) ? found : fail('terms_changed')
  }
  const isAddress = recipient.kind === 'address'
  const terms = {
    ...(isAddress ? { payee: recipient.address } : {}),
    ...(isAddress ? {} : { payee_alias: recipient.alias }),
    kind: 'transfer',
    device,
    chain: chain.id,
    token: token.address,
    amount_atomic: order.amountAtomic.toString(),
    amount_usd_micros: order.usdMicros.toString(),
    terms: {},
    expires_in_seconds: expiresInSeconds,
    ...(input.memo === undefined ? {} : { memo: input.memo }),
    ...(context.claim === null ? {} : { claim: context.claim }),
  }
  const entered = await context.db.one('begin_payment', terms, enteredRow)
  if (!entered) throw new Error('begin_payment answered no row')
  return entered
}

function hasTerms({ payment_row: payment }: Entered, order: Order): boolean {
  const { recipient } = order
  const isSamePayee =
    recipient.kind === 'address'
      ? recipient.address === payment.payee
      : recipient.alias === payment.payee_alias
  return (
    isSamePayee &&
    payment.chain === order.chain.id &&
    payment.token === order.token.address &&
    payment.amount_atomic === order.amountAtomic
  )
}

/** Whether the caller can still take it further; custody makes going on with a signature safe. */
function isOpen({ state }: Payment): boolean {
  return ['prepared', 'awaiting_confirmation', 'authorized', 'signed'].includes(state)
}

type Answered = Exclude<Authorized, { refusal: unknown }>

async function answerOf(context: Context, payment: Payment, authorized: Answered) {
  if (authorized.outcome === 'confirm') {
    await context.db.run('await_confirmation', { payment: payment.id })
    return {
      ...transferBody({ ...payment, state: 'awaiting_confirmation' }),
      requires_user_confirm: true,
      reasons: authorized.reasons.map(reasonBody),
      confirmation: await confirmationOf(payment, authorized.level),
    }
  }
  return transferBody({
    ...payment,
    state: 'signed',
    finality: 'submitted',
    tx_hash: authorized.transaction?.hash ?? payment.tx_hash,
    consent_level: payment.consent_level ?? authorized.consentLevel,
  })
}

function transferBody(payment: Payment) {
  const { chain, token } = assetOf(payment)
  const { payee: address, payee_alias: alias } = payment
  return {
    transfer_id: payment.id,
    status: statusOf(payment.state),
    requires_user_confirm: false,
    reasons: [],
    summary: summaryOf(payment),
    chain: chain.caip2,
    token: token.symbol,
    amount: formatAmount(payment.amount_atomic, token.decimals),
    amount_atomic: payment.amount_atomic.toString(),
    recipient: { address, ...(alias === null ? {} : { alias }) },
    ...(payment.tx_hash === null ? {} : { tx_hash: payment.tx_hash }),
    finality: payment.finality,
    consent_level: payment.consent_level,
  }
}

function statusOf(state: Payment['state']) {
  switch (state) {
    case 'settled':
    case 'failed':
    case 'released':
    case 'awaiting_confirmation':
      return state
    case 'prepared':
    case 'expired':
      return 'awaiting_confirmation' as const
    case 'authorized':
    case 'signed':
    case 'unknown':
      return 'submitted' as const
  }
}
