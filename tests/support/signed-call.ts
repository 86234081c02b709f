/** The call that uses an EIP-3009 authorization, as any holder of the signature makes it. */
import { Interface } from 'ethers'
import type { SignedAuthorization } from '../../shared/custody/port.ts'

const forms = new Interface([
  'function transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,bytes)',
])

export function authorizationCall(held: SignedAuthorization): string {
  const { from, to, value, validAfter, validBefore, nonce, signature } = held
  const values = [from, to, value, validAfter, validBefore, nonce, signature]
  return forms.encodeFunctionData('transferWithAuthorization', values)
}
