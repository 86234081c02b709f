/**
 * Signs what the ledger holds of a payment, in the form that its stored terms name: an EIP-3009
 * authorization, which only the payee may use if it carries out an order, or a Permit2 permit with the
 * allowance that it may need. Nothing of the request that asked for it is an input.
 */
import { assetOf } from '../chains/registry.ts'
import type { Roots } from '../sealing/roots.ts'
import { readEnvelope, withKey } from './accounts.ts'
import { signAuthorization } from './authorization.ts'
import type { AuthorizedRow } from './ledger.ts'
import { storedNonce } from './nonce.ts'
import { formOf } from './payment-form.ts'
import { signAllowance, signPermit2 } from './permit2.ts'
import type { SignedPayment } from './port.ts'

/** Signs an authorized payment. */
export function signPayment(roots: Roots, row: AuthorizedRow): Promise<SignedPayment> {
  const { account, wallet: address } = row.payment_row
  const envelope = readEnvelope(row.wallet_envelope)
  return withKey(roots, { account, address }, envelope, (key) => signWith(key, row.payment_row))
}

async function signWith(
  key: Uint8Array,
  payment: AuthorizedRow['payment_row'],
): Promise<SignedPayment> {
  const { token } = assetOf(payment)
  const form = formOf(payment.terms)
  const terms = {
    chainId: payment.chain,
    token: token.address,
    domain: token.domain,
    from: payment.wallet,
    to: payment.payee,
    valueAtomic: payment.amount_atomic,
    validAfter: payment.valid_after,
    validBefore: payment.valid_before,
    nonce: storedNonce(payment),
    ...(form.kind === 'order' && { form: 'ReceiveWithAuthorization' as const }),
  }
  if (form.kind !== 'permit2') return signAuthorization(key, terms)
  const signed = await signPermit2(key, { ...terms, ...form })
  const { allowance_nonce: nonce } = payment
  if (nonce === null) return signed
  const allowance = { ...terms, owner: payment.wallet, nonce: BigInt(nonce) }
  return { ...signed, allowance: { nonce, signature: await signAllowance(key, allowance) } }
}
