/**
 * Builds the payload of x402 exact and upto by Permit2, as their proxies take it, with the allowance that a
 * server sponsors (extension eip2612GasSponsoring). It is equal to that of the official client.
 */
import { getAddress } from 'viem/utils'
import { permit2Address } from '../chains/evm/rpc/places.ts'
import type { Permit2Form } from '../custody/permit2-terms.ts'
import { permit2Spenders } from '../custody/permit2-terms.ts'
import type { SignedPayment } from '../custody/port.ts'

const sponsoring = 'eip2612GasSponsoring'

/** Returns `permit2Authorization` with its signature. Permit2 counts nonces, so it is a decimal number. */
export function permit2Payload(
  { from, to, value, validAfter, validBefore, nonce, signature }: SignedPayment,
  form: Permit2Form,
  asset: string,
): Record<string, unknown> {
  const facilitator =
    form.scheme === 'upto' ? { facilitator: getAddress(form.facilitator) } : undefined
  const permit2Authorization = {
    from,
    permitted: { token: getAddress(asset), amount: value },
    spender: permit2Spenders[form.scheme],
    nonce: BigInt(nonce).toString(),
    deadline: validBefore,
    witness: { to, ...facilitator, validAfter },
  }
  return { signature, permit2Authorization }
}

/** Returns true if the server submits the EIP-2612 permit for Permit2 on chain at its own cost. */
export function isSponsored(extensions: unknown): boolean {
  return isObject(extensions) && isObject(extensions[sponsoring])
}

type AllowanceFields = Pick<SignedPayment, 'from' | 'value' | 'validBefore' | 'allowance'>

/** Adds the signed allowance, if there is one, to the server's extensions. */
export function withAllowance(
  extensions: unknown,
  { from, value, validBefore, allowance }: AllowanceFields,
  asset: string,
): unknown {
  if (!allowance || !isObject(extensions)) return extensions
  const offered = extensions[sponsoring]
  const { info: offeredInfo = {}, ...offeredRest } = isObject(offered) ? offered : {}
  const info = {
    ...(isObject(offeredInfo) ? offeredInfo : {}),
    from,
    asset: getAddress(asset),
    spender: permit2Address,
    amount: value,
    nonce: allowance.nonce,
    deadline: validBefore,
    signature: allowance.signature,
    version: '1',
  }
  return { ...extensions, [sponsoring]: { ...offeredRest, info } }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
