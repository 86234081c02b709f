import * as z from 'zod'
import { isContractOn, tokensBarring } from '../../shared/chains/evm/funds.ts'
import { addressSchema } from '../../shared/chains/hex.ts'
import type { Address, Chain } from '../../shared/chains/registry.ts'
import { wantedChains } from '../../shared/chains/wanted.ts'
import { fail, isRefusal } from '../../shared/contract/errors.ts'
import type { Handler } from '../../shared/http/handler.ts'
import { warningsOf } from '../../shared/payments/decide/warnings.ts'
import { readRecipient } from '../../shared/payments/enter/transfer.ts'
import { ownWallet } from '../../shared/payments/payment.ts'
import type { World } from '../../shared/world.ts'
import type { resolveTransferRecipient } from './contract.ts'

const resolvedRow = z.object({
  address_found: addressSchema,
  alias_found: z.string().nullable(),
  known: z.boolean(),
  similar_to: z.string().nullable(),
  own: z.boolean(),
})

/** Resolves a recipient, then checks on the chains if its address is a contract or barred by a token. */
export const run: Handler<typeof resolveTransferRecipient> = async (input, { db, world }) => {
  const chains = wantedChains(world.config, input.chain === undefined ? undefined : [input.chain])
  if (isRefusal(chains)) return chains
  const recipient = readRecipient(input.recipient, chains, world.config.MAIL_DOMAIN)
  if (isRefusal(recipient)) return recipient
  const question =
    recipient.kind === 'address'
      ? { address: recipient.address }
      : { recipient_alias: recipient.alias }
  const found = await db.one('resolve_recipient', question, resolvedRow)
  if (!found) return fail('recipient_not_found')
  if (found.own) return ownWallet
  const [isContract, barredBy] = await Promise.all([
    isContractOn(world, chains, found.address_found),
    barsOn(world, chains, found.address_found),
  ])
  return {
    kind: recipient.kind,
    address: found.address_found,
    ...(found.alias_found === null ? {} : { alias: found.alias_found }),
    chain_family: 'evm' as const,
    known: found.known,
    is_contract: isContract,
    warnings: warningsOf({
      similarTo: found.similar_to,
      isKnown: found.known,
      isContract,
      isChecksummed: recipient.kind !== 'address' || recipient.checksummed,
      barredBy,
    }),
    requires_user_confirm: !found.known || found.similar_to !== null,
  }
}

/** Lists the tokens, by chain, that bar the recipient from receiving. */
async function barsOn(world: World, chains: readonly Chain[], address: Address) {
  const bars = await Promise.all(
    chains.map(async (chain) => {
      const tokens = await tokensBarring(world, chain, address)
      return tokens.map(({ symbol }) => ({ chain: chain.title, symbol }))
    }),
  )
  return bars.flat()
}
