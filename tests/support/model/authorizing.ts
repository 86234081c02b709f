/** Custody's authorization of a payment, which reserves its amount in the same step. */
import { balanceOf, countOf, headOf } from './chain.ts'
import { claimFrom, claimWire, lanesSeen, transactionWire } from './claims.ts'
import { drawCost, holdPayment } from './custody-work.ts'
import type { Dice } from './dice.ts'
import { nobody } from './entering.ts'
import type { House, Operation } from './house.ts'
import { agree, ask, pickKey, pickPayment, rowOf } from './house.ts'
import { confirmFunded, confirmStopped } from './invariants.ts'
import { fieldsOf, without } from './ledger.ts'
import { consentBehind, mandateWire } from './mandate-wire.ts'
import { carrying } from './mandates.ts'
import type { Asked } from './payments.ts'
import { authorize, leaseSeconds } from './payments.ts'
import { approvedAt, fits } from './policy.ts'
import { gasNeeded } from './relay.ts'
import type { Key, Level, Payment, Twin } from './state.ts'
import { admit, isUnused, refusable } from './state.ts'
import { paymentWire } from './wire.ts'

/** Longest validity of a signature in seconds. */
const validMaxSeconds = 900
const levels: readonly Level[] = ['none', 'agent_asserted', 'user_session', 'user_passkey']

/** Draws a request to custody that mostly follows from true facts. */
export function drawAsked(house: House, dice: Dice, key: Key, payment: Payment | undefined): Asked {
  const { twin, chain } = house
  const fitting = levels.filter((level) => payment && fits(twin, key, payment, level))
  const covering = payment ? carrying(twin, key, payment) : []
  const mandate = dice.anyOf(dice.isLucky(90) ? covering : twin.mandates) ?? null
  const carried = mandate && dice.isLucky(60) ? ('mandate' as const) : dice.anyOf(fitting)
  const level = dice.isLucky(90) ? carried : undefined
  const version = payment?.account.version ?? 1
  const wallet = payment?.account.wallet ?? ''
  const isTransfer = payment?.kind === 'transfer'
  const costWei = drawCost(dice)
  return {
    id: payment?.id ?? nobody,
    level: level ?? dice.anyOf([...levels, 'mandate' as const]) ?? 'none',
    mandate,
    version: dice.isLucky(97) ? version : version - 1,
    funds: payment && dice.isLucky(94) ? balanceOf(chain, wallet, payment.token) : 0n,
    seenBlock: headOf(chain),
    validBefore: twin.now + dice.oneOf([600, 600, 600, validMaxSeconds]),
    gasFrom: isTransfer ? (dice.isLucky(75) ? 'relayer' : 'wallet') : null,
    walletNonce: dice.isLucky(90) ? countOf(chain, wallet) : 0,
    walletWei: drawWei(twin, dice, wallet, costWei),
    costWei,
    lanes: isTransfer ? lanesSeen(house, dice) : [],
  }
}

/** Draws the wallet's wei: mostly just enough, at times one too few. */
function drawWei(twin: Twin, dice: Dice, wallet: string, costWei: bigint): bigint {
  const needed = gasNeeded(twin, wallet, costWei)
  return dice.isLucky(88) ? needed + BigInt(dice.below(2)) : needed - 1n
}

async function decideAndSign(house: House, dice: Dice): Promise<void> {
  const usable = house.twin.payments.filter((payment) => isUnused(payment))
  const approved = dice.isLucky(30) ? dice.anyOf(usable.filter(approvedAt)) : undefined
  const recent = dice.isLucky(80) ? dice.anyOf(usable.slice(-5)) : pickPayment(house, dice)
  const payment = approved ?? recent
  const key = pickKey(house, dice, payment?.account)
  const asked = drawAsked(house, dice, key, payment)
  await authorizeAs(house, key, asked, dice)
}

function askCustody(house: House, credential: string, asked: Asked) {
  return ask(house, 'custody_authorize', {
    credential,
    payment: asked.id,
    consent_level: asked.level,
    facts_version: asked.version,
    funds_atomic: asked.funds.toString(),
    seen_block: asked.seenBlock,
    valid_after: 0,
    valid_before: asked.validBefore,
    lease_seconds: leaseSeconds,
    gas_from: asked.gasFrom,
    wallet_nonce: asked.walletNonce,
    wallet_wei: asked.walletWei.toString(),
    cost_wei: asked.costWei.toString(),
    gas_chain: house.twin.chain,
    lanes: asked.lanes,
    mandate: asked.mandate?.id ?? null,
  })
}

/** Runs custody's authorization; the step that stores the signature may be held back. */
export async function authorizeAs(house: House, key: Key, asked: Asked, dice: Dice) {
  const answer = await askCustody(house, key.credential, asked)
  const row = rowOf(answer)
  const told = claimFrom(row?.['claim'])
  const decided = refusable(() => authorize(house.twin, key.credential, asked, told))
  if ('refused' in decided) return agree('custody_authorize', answer, decided)
  const { outcome, first, payment, claim } = decided
  agree('custody_authorize', authorizedFrom(row), {
    outcome,
    first,
    payment_row: payment ? paymentWire(house.twin, payment) : null,
    wallet_envelope: payment ? {} : null,
    claim: claim ? claimWire(house, claim) : null,
    transaction: payment ? transactionWire(house, payment) : null,
    consent: payment ? consentBehind(payment) : null,
    mandate_row: payment?.mandate ? mandateWire(house.twin, payment.mandate) : null,
  })
  confirmGiven(house, row)
  if (claim && asked.gasFrom === 'wallet') confirmFunded(house.twin, claim.lane, asked)
  if (payment?.state === 'authorized' && first)
    await holdPayment(house, dice, payment, asked, claim)
}

/** Checks that the ledger gives out no transaction that must not be sent. */
function confirmGiven({ stored }: House, row: ReturnType<typeof rowOf>): void {
  const transaction = stored.get(String(fieldsOf(row?.['transaction'])['tx_hash']))
  if (transaction) confirmStopped(transaction)
}

/** Checks that a request for a signature that is valid for too long raises an error, not a refusal. */
async function askTooLong(house: House, dice: Dice): Promise<void> {
  const payment = pickPayment(house, dice)
  const key = pickKey(house, dice, payment?.account)
  const { credential } = key
  const admitted = refusable(() => admit(house.twin, credential, 'pay'))
  if ('refused' in admitted) return
  const asked = drawAsked(house, dice, key, payment)
  const tooLong = { ...asked, validBefore: house.twin.now + validMaxSeconds + 1 }
  const failure = await askCustody(house, credential, tooLong).catch((error: unknown) => error)
  const said = failure instanceof Error ? failure.message : undefined
  agree('a signature for too long', said, 'a signature that is good for more than 15 minutes')
}

/** Returns the ledger's answer without the fields that only it can choose. */
function authorizedFrom(row: ReturnType<typeof rowOf>) {
  const { consent, mandate_row } = row ?? {}
  return { ...row, consent: without('id', consent), mandate_row: without('number', mandate_row) }
}

export const authorizingOperations: readonly Operation[] = [
  { name: 'authorize', weight: 18, run: decideAndSign },
  { name: 'ask too long', weight: 1, run: askTooLong },
]
