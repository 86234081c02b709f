/**
 * Makes a transfer to the gate of an order for a vault, with the least that the chain has to bring of it. The
 * vault's promise of this moment, less the slippage that is allowed, becomes the bound.
 */
import { type Unavailable, unavailable } from '../chains/evm/rpc/endpoints.ts'
import { encodeOrder, readDeposit, readWithdrawal } from '../chains/evm/yield.ts'
import type { Address } from '../chains/registry.ts'
import { fail, isRefusal, type Refusal } from '../contract/errors.ts'
import { orderDigest } from '../custody/payment-form.ts'
import { formatAmount, parseDollars } from '../money/amount.ts'
import { usdMicrosEnd, usdMicrosOf } from '../money/usd.ts'
import type { TransferOrder } from '../payments/enter/transfer.ts'
import type { World } from '../world.ts'
import { findYieldVault, type YieldVault } from './registry.ts'

/** Order as it is asked for; the amount is in token units, or `all` of a position. */
export type YieldRequest = {
  operation: 'deposit' | 'withdraw'
  chain: string
  vault: string
  amount: string
  max_slippage_bps: number
}

type OrderRefusal = Refusal<
  'unsupported_chain' | 'invalid_request' | 'insufficient_funds' | 'unavailable'
>

/** Value that a withdrawal is signed over, the least that relayers carry. It comes back with the rest. */
const withdrawalAtomic = 10_000n
const wholeBps = 10_000n

/** Reads an order, asks the vault for its price, and returns the transfer that carries it. */
export async function readYieldOrder(
  world: World,
  wallet: Address,
  wish: YieldRequest,
): Promise<TransferOrder | OrderRefusal> {
  const vault = findYieldVault(world.config, wish)
  if (isRefusal(vault)) return vault
  const amount = wish.amount === 'all' ? 'all' : parseDollars(wish.amount, vault.token.decimals)
  if (amount === undefined || amount === 0n) {
    return invalid(`amount: more than zero, with at most ${vault.token.decimals} decimals, or all`)
  }
  if (wish.operation === 'withdraw') return withdrawal(world, wallet, vault, { ...wish, amount })
  if (vault.isClosed) return invalid(`vault: ${vault.name} takes no more deposits.`)
  if (amount === 'all') return invalid('amount: all is for withdrawals; give a deposit in USDC')
  const promised = await readDeposit(world, vault, amount)
  if ('log' in promised) return silent(vault, promised)
  const bounds = {
    shares: lessSlippage(promised.shares, wish),
    minimumOut: lessSlippage(amount, wish),
  }
  const order = encodeOrder({ vault: vault.address, isDeposit: true, ...bounds })
  const stated = { ...wish, amount: formatAmount(amount, vault.token.decimals) }
  return transferOf(world, vault, stated, { amountAtomic: amount, order })
}

async function withdrawal(
  world: World,
  wallet: Address,
  vault: YieldVault,
  wish: Omit<YieldRequest, 'amount'> & { amount: bigint | 'all' },
): Promise<TransferOrder | OrderRefusal> {
  const { token, address, name } = vault
  const read = await readWithdrawal(world, vault, wallet, wish.amount)
  if ('log' in read) return silent(vault, read)
  const { held, shares, worthAtomic } = read
  if (shares === 0n || shares > held) {
    const message = `The position in ${name} is less than that.`
    return fail('insufficient_funds', { message, hint: 'See defi_vaults_list, or withdraw all.' })
  }
  const wanted = wish.amount === 'all' ? worthAtomic : wish.amount
  // Shares that are worth something else by the vault's own word would be too many or too few.
  if (lessSlippage(wanted, wish) > worthAtomic || lessSlippage(worthAtomic, wish) > wanted) {
    return silent(vault, unavailable(`${address} contradicts itself`))
  }
  const minimumOut = lessSlippage(wanted, wish)
  const order = encodeOrder({ vault: address, isDeposit: false, shares, minimumOut })
  const amount = wish.amount === 'all' ? 'all' : formatAmount(wish.amount, token.decimals)
  const stated = { ...wish, amount }
  return transferOf(world, vault, stated, { amountAtomic: withdrawalAtomic, order })
}

function transferOf(
  world: World,
  { chain, token, gate, address, name }: YieldVault,
  { operation, amount, max_slippage_bps }: YieldRequest,
  { amountAtomic, order }: { amountAtomic: bigint; order: `0x${string}` },
): TransferOrder | OrderRefusal {
  const usdMicros = usdMicrosOf(token, amountAtomic, world.config)
  if (usdMicros === undefined || usdMicros >= usdMicrosEnd) return invalid('amount: less than that')
  const what = amount === 'all' ? 'everything' : `${amount} ${token.symbol}`
  const loss = `at most ${formatAmount(BigInt(max_slippage_bps), 2)} % less than promised`
  const purpose =
    operation === 'deposit'
      ? `for a deposit into ${name} (${address}), ${loss}`
      : `for a withdrawal of ${what} from ${name} (${address}), ${loss}, which sends both back`
  const terms = {
    category: 'defi',
    carrier: { order },
    request_digest: orderDigest(order),
    purpose,
    operation,
    vault: address,
    amount,
    max_slippage_bps,
  }
  const recipient = { kind: 'address' as const, address: gate, checksummed: true }
  return { chain, token, amountAtomic, usdMicros, recipient, terms }
}

function lessSlippage(
  amount: bigint,
  { max_slippage_bps: bps }: { max_slippage_bps: number },
): bigint {
  return (amount * (wholeBps - BigInt(bps))) / wholeBps
}

function invalid(message: string) {
  return fail('invalid_request', { message })
}

function silent({ name }: YieldVault, { log }: Unavailable) {
  const message = `${name} does not answer now. Nothing was entered.`
  return fail('unavailable', { message, retryAfterSeconds: 30, log })
}
