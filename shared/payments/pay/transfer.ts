/**
 * Takes a transfer from entry to broadcast. One round trip to the chain reads what it is decided and priced
 * from, before anything is reserved. Custody stores what it signs before that is broadcast, and an outcome
 * that is not known is `submitted`, never `failed`. A payment that another request has taken further is
 * returned as it stands.
 */
import { type Preflight, readPreflight } from '../../chains/evm/preflight.ts'
import { assetOf, type Chain } from '../../chains/registry.ts'
import { fail, isRefusal, type Refusal } from '../../contract/errors.ts'
import type { Context } from '../../http/handler.ts'
import type { ConfirmationRequest, DecisionMaker } from '../decide/judge.ts'
import { gasTooDear, notFunded, refuseBarred } from '../decide/not-payable.ts'
import { foundRow, isSigned, type Payment } from '../payment.ts'
import { openSignatures, type PaymentWithFacts } from '../payment-with-facts.ts'
import { fundedGasPayers, relayQueued, sendStored } from '../relay/relay.ts'
import {
  authorizePayment,
  chooseGasPayer,
  type GasRefusal,
  type Sender,
  type SigningInputs,
  type SigningResult,
  tooSmall,
} from './authorize.ts'

/**
 * Seconds for which an authorization is valid by our own clock: ten minutes, which bounds how long it can
 * stay unknown. A node's time makes none longer.
 */
const validSeconds = 600
/** Seconds for which a signature must be valid by the chain's clock to be of use. */
const leftSecondsMin = 60

/** Payment as it stands after the call, and the confirmation that it waits for. */
export type Paid = { payment: Payment; asked?: ConfirmationRequest }

/** Sends an entered transfer, which has not ended, once the rules are met. */
export async function payEntered(
  context: Context,
  entered: PaymentWithFacts,
  decisionMaker: DecisionMaker,
) {
  const payment = entered.payment_row
  if (!isOpen(payment)) return { payment }
  const authorized = await sendTransfer(context, entered, decisionMaker)
  if (isRefusal(authorized)) return (await signedMeanwhile(context, payment)) ?? authorized
  return paidOf(payment, authorized)
}

/** Returns a payment that another request signed after this one had read it; its id stays the same. */
async function signedMeanwhile({ db }: Context, { id }: Payment): Promise<Paid | undefined> {
  const found = await db.one('find_payment', { payment: id }, foundRow)
  const payment = found?.payment_row
  return payment && isSigned(payment.state) ? { payment } : undefined
}

/** True while the caller can take it further; housekeeping sends again what is signed. */
function isOpen({ state }: Payment): boolean {
  return ['prepared', 'awaiting_confirmation', 'authorized'].includes(state)
}

type Answered = Exclude<SigningResult, { refusal: unknown }>

function paidOf(payment: Payment, authorized: Answered): Paid {
  if (authorized.outcome === 'confirm') {
    return { payment: { ...payment, state: 'awaiting_confirmation' }, asked: authorized.asked }
  }
  const signed = {
    ...payment,
    state: 'signed' as const,
    finality: 'submitted' as const,
    tx_hash: authorized.transaction?.hash ?? payment.tx_hash,
    consent_level: payment.consent_level ?? authorized.consentLevel,
    mandate: payment.mandate ?? authorized.mandateId ?? null,
  }
  return { payment: signed }
}

/** Decides, signs and broadcasts; returns custody's answer. */
export async function sendTransfer(
  sender: Sender,
  entered: PaymentWithFacts,
  decisionMaker: DecisionMaker,
): Promise<SigningResult | Refusal<'recipient_refused' | 'amount_too_small'>> {
  const signing = await prepareSigning(sender, entered)
  if (isRefusal(signing)) return signing
  const authorized = await authorizePayment(sender, entered, decisionMaker, signing)
  if (!isRefusal(authorized) && authorized.outcome === 'signed' && authorized.first) {
    const { chain } = assetOf(entered.payment_row)
    const { fees, gasPayers } = signing.relay
    const { transaction, queued } = authorized
    if (transaction) await sendStored(sender.world, chain, transaction)
    // Nobody waits for the transfers of others.
    if (queued) sender.later(relayQueued(sender.world, chain, { ...fees, gasPayers }))
  }
  return authorized
}

async function prepareSigning(sender: Sender, entered: PaymentWithFacts) {
  const { payment_row: payment, facts } = entered
  const { chain, token } = assetOf(payment)
  const { wallet, payee } = payment
  const gasPayers = facts.gas_payers.map(({ address }) => address)
  const asked = { token, wallet, payee, gasPayers, open: openSignatures(payment, facts) }
  const seen = await readPreflight(sender.world, chain, asked)
  if (seen.status === 'unavailable') {
    return fail('unavailable', { message: `${chain.title} does not answer.`, log: seen.log })
  }
  if (!seen.domainMatches) {
    return fail('unavailable', { log: `${token.address} signs under another domain` })
  }
  if (seen.barred) return refuseBarred(seen.barred, token.symbol)
  if (seen.isOverBudget) return gasTooDear(chain)
  if (Number(seen.blockTimestampSeconds) + leftSecondsMin > facts.now + validSeconds) {
    return clockAhead(chain)
  }
  const own = payment.state === 'authorized' ? payment.amount_atomic : 0n
  const free = seen.tokenAtomic - (facts.reserved_atomic - own)
  if (free >= payment.amount_atomic) return tooSmall(entered, seen) ?? signingFrom(entered, seen)
  const isReserved = seen.tokenAtomic >= payment.amount_atomic
  const more = isReserved ? reservedHint : facts.is_refilled ? refillHint : {}
  return notFunded({ chain, token }, payment.amount_atomic, free, more)
}

/** Hint for a payment that lacks what others have reserved. */
const reservedHint = {
  hint: 'Part of the balance is reserved by payments that have not left the wallet yet.',
  retryAfterSeconds: 5,
}

/** Hint for a payment that waits until a rule of the owner brings what it lacks. */
const refillHint = {
  hint: 'The payment waits for a rule of the owner to bring what is missing. Send it again after that.',
  retryAfterSeconds: 90,
}

/** Returns the refusal if a signature that ends by our clock would be (nearly) over by the chain's. */
function clockAhead({ title }: Chain) {
  return fail('unavailable', {
    message: `The clock of ${title} is too far ahead of ours to sign for it now.`,
    hint: 'Try again later, or pay on another chain.',
    retryAfterSeconds: 60,
  })
}

type SigningTransfer = SigningInputs & { relay: NonNullable<SigningInputs['relay']> }

/** Prepares signing with the payer of gas: a relayer that can and may pay, else the wallet, else nobody. */
function signingFrom(entered: PaymentWithFacts, seen: Preflight): SigningTransfer | GasRefusal {
  const { facts, payment_row: payment } = entered
  const gasPayers = fundedGasPayers(facts.gas_payers, seen)
  const gasFrom = chooseGasPayer(entered, { ...seen, gasPayers })
  if (isRefusal(gasFrom)) return gasFrom
  const relay: NonNullable<SigningInputs['relay']> = {
    chainId: payment.chain,
    fees: {
      maxFeePerGas: seen.maxFeePerGas.toString(),
      maxPriorityFeePerGas: seen.maxPriorityFeePerGas.toString(),
      dataFeeWei: seen.dataFeeWei.toString(),
    },
    gasFrom,
    walletNonce: seen.walletNonce,
    walletWei: seen.walletWei.toString(),
    gasPayers,
  }
  return {
    fundsAtomic: seen.tokenAtomic,
    seenBlock: seen.seenBlock,
    validAfter: 0,
    validBefore: facts.now + validSeconds,
    relay,
    again: (latest) => signingFrom(latest, seen),
  }
}
