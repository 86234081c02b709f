/**
 * Reads the order of a transfer, finds its token and recipient, and enters it in the ledger, or finds the one
 * that the caller continues. Reserves and signs nothing.
 */
import { lossReasonOf, readAddress } from '../../chains/evm/address.ts'
import { readBalances } from '../../chains/evm/funds.ts'
import { type Address, type Chain, type Token, tokenNamed } from '../../chains/registry.ts'
import { wantedChains } from '../../chains/wanted.ts'
import { fail, isRefusal, type Refusal } from '../../contract/errors.ts'
import type { Config } from '../../env.ts'
import type { Context } from '../../http/handler.ts'
import { parseAmount, parseDollars } from '../../money/amount.ts'
import { usdMicrosEnd, usdMicrosOf } from '../../money/usd.ts'
import { aliasProblem, canonicalAlias } from '../../onboarding/alias.ts'
import { ownWallet, walletRow } from '../payment.ts'
import { type PaymentWithFacts, paymentWithFactsRow } from '../payment-with-facts.ts'

/** Seconds that a transfer waits for a confirmation, the owner's included: one day. */
const expiresInSeconds = 86_400

/** Enters a transfer. `transferId` continues an entered one, which must have the terms of the order. */
export async function enterTransfer(
  context: Context,
  order: TransferOrder,
  { transferId, memo }: { transferId: string | undefined; memo: string | undefined },
): Promise<
  PaymentWithFacts | Refusal<'payment_not_found' | 'recipient_refused' | 'terms_changed'>
> {
  const device = await context.device()
  if (transferId === undefined) return enterOrder(context, order, device, memo)
  const expected = termsOf(order)
  const question = { payment: transferId, kind: 'transfer', device, expected }
  const found = await context.db.one('payment_facts', question, paymentWithFactsRow)
  if (!found) return fail('payment_not_found')
  return hasTerms(found, order) ? found : fail('terms_changed', otherTransfer)
}

async function enterOrder(
  context: Context,
  order: TransferOrder,
  device: string,
  memo: string | undefined,
): Promise<PaymentWithFacts | Refusal<'recipient_refused' | 'terms_changed'>> {
  const terms = {
    ...termsOf(order),
    kind: 'transfer',
    device,
    amount_usd_micros: order.usdMicros.toString(),
    terms: order.terms ?? {},
    expires_in_seconds: expiresInSeconds,
    ...(memo === undefined ? {} : { memo }),
    ...(context.claim === null ? {} : { claim: context.claim, keyed: true }),
  }
  const entered = await context.db.one('begin_payment', terms, paymentWithFactsRow)
  if (!entered) return ownWallet
  // Another request with this claim may have entered it.
  return hasTerms(entered, order) ? entered : fail('terms_changed', otherTransfer)
}

const otherTransfer = {
  message: 'The transfer of this transfer_id has another recipient, chain, token or amount.',
  hint: 'Send it with its own terms, or leave transfer_id out to enter another transfer.',
}

/** Returns the terms of an order that the ledger holds it to. */
function termsOf({ recipient, chain, token, amountAtomic }: TransferOrder) {
  return {
    ...(recipient.kind === 'address'
      ? { payee: recipient.address }
      : { payee_alias: recipient.alias }),
    chain: chain.id,
    token: token.address,
    amount_atomic: amountAtomic.toString(),
  }
}

function hasTerms({ payment_row: payment }: PaymentWithFacts, order: TransferOrder): boolean {
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

/** Order in an agent's words; the amount is in token units. */
export type TransferRequest = { recipient: string; amount: string }

/** Parsed order; `usdMicros` is what it counts for against the limits. */
export type TransferOrder = Asset & {
  amountAtomic: bigint
  usdMicros: bigint
  recipient: Recipient
  /** Terms of an order that the recipient carries out; none when absent. */
  terms?: Record<string, unknown>
}

type OrderRefusal = Refusal<
  'unsupported_token' | 'invalid_request' | 'recipient_not_found' | 'recipient_refused'
>

/** Reads an order in this asset, or returns the refusal of what cannot be served here. */
export function readTransferOrder(
  wish: TransferRequest,
  { chain, token }: Asset,
  config: Config,
): TransferOrder | OrderRefusal {
  const read = token.symbol === 'USDC' ? parseDollars : parseAmount
  const amountAtomic = read(wish.amount, token.decimals)
  if (amountAtomic === undefined || amountAtomic === 0n) {
    const message = `amount: more than zero, with at most ${token.decimals} decimals; only USDC takes a $`
    return fail('invalid_request', { message })
  }
  const usdMicros = usdMicrosOf(token, amountAtomic, config)
  if (usdMicros === undefined) {
    return fail('unsupported_token', { message: `${token.symbol} has no USD rate configured.` })
  }
  if (usdMicros >= usdMicrosEnd) {
    return fail('invalid_request', { message: 'amount: less, for no limit lets so much through' })
  }
  const recipient = readRecipient(wish.recipient, [chain], config.MAIL_DOMAIN)
  if (isRefusal(recipient)) return recipient
  return { chain, token, amountAtomic, usdMicros, recipient }
}

/** Token on its chain. */
type Asset = { chain: Chain; token: Token }

type Refused = Refusal<'unsupported_chain' | 'unsupported_token' | 'invalid_request'>

/** Returns the asset with this chain and token, or the only one that the wallet holds. */
export async function findAsset(
  context: Context,
  wish: { chain?: string | undefined; token?: string | undefined },
): Promise<Asset | Refused> {
  const { config } = context.world
  const chains = wantedChains(config, wish.chain === undefined ? undefined : [wish.chain])
  if (isRefusal(chains)) return chains
  const named = chains.flatMap((chain) =>
    tokensNamed(chain, wish.token).map((token) => ({ chain, token })),
  )
  const [first] = named
  if (!first) {
    const available = [...new Set(chains.flatMap(({ tokens }) => tokens.map((one) => one.symbol)))]
    return fail('unsupported_token', { details: { available } })
  }
  const payable = named.filter(({ token }) => usdMicrosOf(token, 1n, config) !== undefined)
  if (payable.length < 2) return payable[0] ?? first
  const held = await assetsHeld(context, payable)
  const [only, ...others] = held
  return only && others.length === 0 ? only : ambiguous(only ? held : payable)
}

function tokensNamed(chain: Chain, name: string | undefined): readonly Token[] {
  if (name === undefined) return chain.tokens
  const token = tokenNamed(chain, name)
  return token ? [token] : []
}

/** Returns the assets that the wallet holds, or may hold on a chain that does not answer. */
async function assetsHeld({ db, world }: Context, assets: readonly Asset[]): Promise<Asset[]> {
  await db.run('check_admission', { needed: 'pay' })
  const wallet = await db.one('get_wallet', {}, walletRow)
  if (!wallet) throw new Error('an admitted caller has no wallet')
  const held = await Promise.all(
    [...new Set(assets.map(({ chain }) => chain))].map(async (chain) => {
      const here = assets.filter((asset) => asset.chain === chain)
      const tokens = here.map(({ token }) => token)
      const seen = await readBalances(world, chain, { address: wallet.address, tokens })
      return here.filter((_, at) => seen.status !== 'ok' || seen.tokens[at]?.amountAtomic !== 0n)
    }),
  )
  return held.flat()
}

function ambiguous(assets: readonly Asset[]): Refused {
  const choices = assets.map(({ chain, token }) => ({ chain: chain.caip2, token: token.symbol }))
  const listed = assets.map(({ chain, token }) => `${token.symbol} on ${chain.title}`).join(', ')
  return fail('invalid_request', {
    message: `Name chain and token; several are possible: ${listed}.`,
    details: { choices },
  })
}

/** Parsed recipient. `checksummed` is false if its letters had one case, which hides a typing error. */
type Recipient =
  | { kind: 'alias' | 'mail'; alias: string }
  | { kind: 'address'; address: Address; checksummed: boolean }

/** Reads a recipient for payments on the given chains. */
export function readRecipient(
  text: string,
  chains: readonly Chain[],
  mailDomain: string,
): Recipient | Refusal<'invalid_request' | 'recipient_not_found' | 'recipient_refused'> {
  if (/^0x/i.test(text)) return readAccountAddress(text, chains)
  const [local = '', domain, ...rest] = text.split('@')
  if (rest.length > 0) return invalidTransfer('A mail address has one @.')
  if (domain !== undefined && domain.trim().toLowerCase() !== mailDomain.toLowerCase()) {
    return fail('recipient_not_found', {
      message: `Only mail addresses on ${mailDomain} can be paid.`,
    })
  }
  const alias = canonicalAlias(local)
  if (aliasProblem(alias) === 'malformed') {
    return invalidTransfer('Give an alias, a mail address of the service, or an EVM address.')
  }
  return { kind: domain === undefined ? 'alias' : 'mail', alias }
}

function readAccountAddress(text: string, chains: readonly Chain[]) {
  const read = readAddress(text)
  if ('refused' in read) {
    return invalidTransfer(
      read.refused === 'bad_checksum'
        ? 'The address has a wrong checksum (EIP-55): a character is mistyped.'
        : 'An EVM address is 0x and 40 hex digits.',
    )
  }
  for (const chain of chains) {
    const reason = lossReasonOf(read.address, chain)
    if (reason !== undefined) return fail('recipient_refused', { details: { reason } })
  }
  return { kind: 'address' as const, ...read }
}

function invalidTransfer(message: string) {
  return fail('invalid_request', { message: `recipient: ${message}` })
}
