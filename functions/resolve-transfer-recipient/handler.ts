import * as z from 'zod'
import { readAddressKind } from '../../shared/chains/evm/code.ts'
import { addressSchema } from '../../shared/chains/hex.ts'
import type { Address, Chain } from '../../shared/chains/registry.ts'
import { connectedChains, findChain } from '../../shared/chains/registry.ts'
import { fail, isRefusal } from '../../shared/contract/errors.ts'
import type { Handler } from '../../shared/http/handler.ts'
import { readRecipient } from '../../shared/payments/recipient.ts'
import type { World } from '../../shared/world.ts'
import type { resolveTransferRecipient } from './contract.ts'

const resolvedRow = z.object({
  address_found: addressSchema,
  alias_found: z.string().nullable(),
  known: z.boolean(),
  similar_to: z.string().nullable(),
  own: z.boolean(),
})

export const run: Handler<typeof resolveTransferRecipient> = async (input, { db, world }) => {
  const connected = connectedChains(world.config)
  const named = input.chain === undefined ? undefined : findChain(input.chain)
  if (input.chain !== undefined && (!named || !connected.includes(named))) {
    return fail('unsupported_chain', { details: { chain: input.chain } })
  }
  const chains = named ? [named] : connected
  const recipient = readRecipient(input.recipient, chains, world.config.MAIL_DOMAIN)
  if (isRefusal(recipient)) return recipient
  const question =
    recipient.kind === 'address'
      ? { address: recipient.address }
      : { recipient_alias: recipient.alias }
  const found = await db.one('resolve_recipient', question, resolvedRow)
  if (!found) return fail('recipient_not_found')
  if (found.own) return fail('recipient_refused', { message: 'This is your own wallet.' })
  const isContract = await isContractOn(world, chains, found.address_found)
  const isChecksummed = recipient.kind !== 'address' || recipient.checksummed
  return {
    kind: recipient.kind,
    address: found.address_found,
    ...(found.alias_found === null ? {} : { alias: found.alias_found }),
    chain_family: 'evm' as const,
    known: found.known,
    is_contract: isContract,
    warnings: warningsOf(found, isContract, isChecksummed),
    requires_user_confirm: !found.known || found.similar_to !== null,
  }
}

/** True if it is a contract on any of the chains; null when a chain that might say so is silent. */
async function isContractOn(
  world: World,
  chains: readonly Chain[],
  address: Address,
): Promise<boolean | null> {
  const kinds = await Promise.all(chains.map((chain) => readAddressKind(world, chain, address)))
  if (kinds.some((read) => read.status === 'ok' && read.kind === 'contract')) return true
  return kinds.every((read) => read.status === 'ok') ? false : null
}

function warningsOf(
  found: z.output<typeof resolvedRow>,
  isContract: boolean | null,
  isChecksummed: boolean,
) {
  const warnings = []
  if (found.similar_to !== null) {
    const message = `The address looks like ${found.similar_to}, which was paid before, but differs.`
    warnings.push({ code: 'similar_recipient', message })
  }
  if (!found.known) {
    warnings.push({ code: 'new_recipient', message: 'This recipient has not been paid before.' })
  }
  if (isContract === true) {
    const message = 'The address is a contract: make sure that it can give tokens out again.'
    warnings.push({ code: 'contract', message })
  }
  if (!isChecksummed) {
    const message = 'The address has no checksum (EIP-55), so a typing error would go unnoticed.'
    warnings.push({ code: 'no_checksum', message })
  }
  return warnings
}
