/**
 * Reads a recipient as somebody wrote it: an alias, a mail address on the service's domain, or an EVM
 * address. Refuses addresses that would lose the money. Only the database knows who is behind an alias.
 */
import { lossReasonOf, readAddress } from '../../chains/evm/address.ts'
import type { Address, Chain } from '../../chains/registry.ts'
import type { Refusal } from '../../contract/errors.ts'
import { fail } from '../../contract/errors.ts'
import { aliasProblem, canonicalAlias } from '../../onboarding/alias.ts'

/** Parsed recipient. `checksummed` is false if its letters had one case, which hides a typing error. */
export type Recipient =
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
  if (rest.length > 0) return invalid('A mail address has one @.')
  if (domain !== undefined && domain.trim().toLowerCase() !== mailDomain.toLowerCase()) {
    return fail('recipient_not_found', {
      message: `Only mail addresses on ${mailDomain} can be paid.`,
    })
  }
  const alias = canonicalAlias(local)
  if (aliasProblem(alias) === 'malformed') {
    return invalid('Give an alias, a mail address of the service, or an EVM address.')
  }
  return { kind: domain === undefined ? 'alias' : 'mail', alias }
}

function readAccountAddress(text: string, chains: readonly Chain[]) {
  const read = readAddress(text)
  if ('refused' in read) {
    return invalid(
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

function invalid(message: string) {
  return fail('invalid_request', { message: `recipient: ${message}` })
}
