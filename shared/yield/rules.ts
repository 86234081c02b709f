/**
 * Carries out the owner's rules: keeps an amount liquid, moves the rest into a vault, and takes out of it what
 * payments lack. A rule orders like an agent whose mandate it is, and asks nobody: what its mandate does not cover
 * is cancelled.
 */
import * as z from 'zod'
import { readBalances } from '../chains/evm/funds.ts'
import { readPosition } from '../chains/evm/yield.ts'
import { addressSchema } from '../chains/hex.ts'
import { isRefusal } from '../contract/errors.ts'
import { bindCredential, unbound } from '../db/database.ts'
import type { Context } from '../http/handler.ts'
import { mandateFacts, mandateRow } from '../mandates/mandate-row.ts'
import { formatAmount } from '../money/amount.ts'
import { bigintText } from '../money/row-fields.ts'
import { decisionMakerFor } from '../payments/decide/judge.ts'
import { enterTransfer } from '../payments/enter/transfer.ts'
import { payEntered } from '../payments/pay/transfer.ts'
import { leftOf } from '../policy/mandate.ts'
import type { World } from '../world.ts'
import { isRowOf } from './body.ts'
import { readYieldOrder, type YieldRequest } from './order.ts'
import { type YieldVault, yieldVaults } from './registry.ts'

const ruleRow = z.object({
  digest: z.string(),
  device: z.string(),
  wallet: addressSchema,
  chain: z.int(),
  vault: z.string(),
  keep_atomic: bigintText,
  above_atomic: bigintText.nullable(),
  refills: z.boolean(),
  reserved_atomic: bigintText,
  unfunded_atomic: bigintText,
  mandate_row: mandateRow,
})

/** A rule that is due, with what is reserved and what transfers lack, in atomic units. */
type Rule = z.output<typeof ruleRow>

const batchMax = 50
/** Hundredths of a percent that the result of an order may be worse. */
const slippageBps = 50
/** Least that is moved in, so that dust makes no orders: 1 USDC. */
const leastMovedAtomic = 1_000_000n

/** Looks once at every rule that is due, and at every position once a day. A failure is logged. */
export async function runYield(world: World): Promise<void> {
  if (world.config.YIELD_VAULTS === '{}') return
  const rules = await unbound(world.db).many('housekeeping_rules', { batch: batchMax }, ruleRow)
  await Promise.all(rules.map((rule) => logged(world, () => followRule(world, rule))))
  const question = { batch: batchMax }
  const positions = await unbound(world.db).many('housekeeping_positions', question, positionRow)
  await Promise.all(positions.map((one) => logged(world, () => keepEarned(world, one))))
}

function logged(world: World, work: () => Promise<void>): Promise<void> {
  return work().catch((error: unknown) => world.log({ work: 'yield', log: String(error) }))
}

async function followRule(world: World, rule: Rule): Promise<void> {
  const vault = yieldVaultOf(world, rule)
  if (!vault) return
  const { chain, token } = vault
  const seen = await readBalances(world, chain, { address: rule.wallet, tokens: [token] })
  if (seen.status !== 'ok') return
  const liquid = (seen.tokens[0]?.amountAtomic ?? 0n) - rule.reserved_atomic
  // A payment that was mined a moment ago counts twice until it is booked.
  if (liquid < 0n) return
  const wish = await wishOf(world, vault, rule, liquid)
  if (!wish) return
  const amount = formatAmount(wish.atomic, token.decimals)
  const memo = `By your rule: ${formatAmount(liquid, token.decimals)} ${token.symbol} were liquid; ${wish.why}.`
  const { operation } = wish
  const request = {
    operation,
    chain: chain.caip2,
    vault: vault.address,
    amount,
    max_slippage_bps: slippageBps,
  }
  await place(world, rule, request, memo)
}

type Wish = { operation: 'deposit' | 'withdraw'; atomic: bigint; why: string }

async function wishOf(
  world: World,
  vault: YieldVault,
  rule: Rule,
  liquid: bigint,
): Promise<Wish | undefined> {
  const { token } = vault
  const lacking = rule.unfunded_atomic - liquid
  // An atomic unit of USDC is a micro-dollar.
  if (lacking > (rule.mandate_row.max_day_usd_micros ?? 0n)) return undefined
  if (rule.refills && lacking > 0n) {
    const position = await readPosition(world, vault, rule.wallet)
    if ('log' in position || position.worthAtomic < lacking) return undefined
    return { operation: 'withdraw', atomic: lacking, why: 'payments wait for more' }
  }
  if (rule.above_atomic === null || liquid - rule.unfunded_atomic <= rule.above_atomic)
    return undefined
  const spare =
    liquid - (rule.unfunded_atomic > rule.keep_atomic ? rule.unfunded_atomic : rule.keep_atomic)
  const { day } = leftOf(mandateFacts(rule.mandate_row))
  const most = day ?? 0n
  const atomic = spare < most ? spare : most
  const kept = formatAmount(rule.keep_atomic, token.decimals)
  return atomic >= leastMovedAtomic
    ? { operation: 'deposit', atomic, why: `${kept} stay` }
    : undefined
}

/** Orders as the rule's key under its mandate; what that does not cover is cancelled. */
async function place(world: World, rule: Rule, request: YieldRequest, memo: string): Promise<void> {
  const context = contextOf(world, rule)
  const order = await readYieldOrder(world, rule.wallet, request)
  if (isRefusal(order)) throw new Error(order.refusal)
  const entered = await enterTransfer(context, order, { transferId: undefined, memo })
  if (isRefusal(entered)) throw new Error(entered.refusal)
  const maker = decisionMakerFor(context, false)
  const paid = await payEntered(context, entered, {
    ...maker,
    decide: async (latest) => {
      const decision = await maker.decide(latest)
      if (decision.verdict === 'allow' && decision.consentLevel === 'mandate') return decision
      return { verdict: 'refuse', reasons: [], mandates: [] }
    },
  })
  if (!isRefusal(paid)) return
  await context.db.run('cancel_order', { of_order: entered.payment_row.id })
  throw new Error(paid.refusal)
}

/** Acts as the key of a rule, which no request can. */
function contextOf(world: World, { digest, device }: Rule): Context {
  return {
    world,
    db: bindCredential(world.db, digest),
    credential: digest,
    device: async () => device,
    now: () => world.now(),
    requestId: world.newId(),
    claim: null,
    isAdmitted: () => true,
    headers: new Headers(),
    client: 'direct',
    later() {},
    mailSoon() {},
  }
}

const positionRow = z.object({
  account: z.uuid(),
  wallet: addressSchema,
  chain: z.int(),
  vault: z.string(),
  paid_atomic: bigintText,
  returned_atomic: bigintText,
})

async function keepEarned(world: World, position: z.output<typeof positionRow>): Promise<void> {
  const { account, chain, vault: address, wallet } = position
  const vault = yieldVaultOf(world, position)
  const seen = vault && (await readPosition(world, vault, wallet))
  if (!seen || 'log' in seen) return
  const earned = seen.worthAtomic + position.returned_atomic - position.paid_atomic
  await unbound(world.db).run('housekeeping_keep_yield', {
    of_account: account,
    of_chain: chain,
    of_vault: address,
    earned_atomic: earned.toString(),
  })
}

function yieldVaultOf(
  { config }: World,
  of: { chain: number; vault: string },
): YieldVault | undefined {
  return yieldVaults(config).find((vault) => isRowOf(vault)(of))
}
