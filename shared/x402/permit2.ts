/** The payload of x402 exact and upto by Permit2, as their proxies take it. */
import type { SignedAuthorization } from '../custody/port.ts'

/** What the proxy of a scheme is: the only spender of its permits. */
export type Permit2Proxy = { spender: string; token: string; facilitator?: string }

/** `permit2Authorization` with its signature; the nonce is a number here, as Permit2 counts. */
export function permit2Payload(
  { from, to, value, validAfter, validBefore, nonce, signature }: SignedAuthorization,
  { spender, token, facilitator }: Permit2Proxy,
): Record<string, unknown> {
  const permit2Authorization = {
    from,
    permitted: { token, amount: value },
    spender,
    nonce: BigInt(nonce).toString(),
    deadline: validBefore,
    witness: { to, ...(facilitator === undefined ? {} : { facilitator }), validAfter },
  }
  return { signature, permit2Authorization }
}
