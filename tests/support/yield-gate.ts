/**
 * Orders for the yield gate, signed and encoded by ethers: the second implementation of what custody signs
 * and relayers carry.
 */
import { AbiCoder, concat, Interface, keccak256, Signature } from 'ethers'
import { callRpc } from '../../scripts/local/chain/rpc.ts'
import type { Chain } from '../../scripts/local/chain.ts'
import type { Hex } from '../../shared/chains/hex.ts'
import type { Address } from '../../shared/chains/registry.ts'
import { hex, type Key, known } from './chain-world.ts'
import { randomBytes } from './seed.ts'

export type Order = { vault: Address; isDeposit: boolean; shares: bigint; minimumOut: bigint }

const forms = new Interface([
  'function carry((address from,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 base,uint8 v,bytes32 r,bytes32 s) held,bytes order)',
  'function sharesOf(address payer,address vault) view returns (uint256)',
  'function balanceOf(address) view returns (uint256)',
  'function previewDeposit(uint256) view returns (uint256)',
  'function previewRedeem(uint256) view returns (uint256)',
  'function deposit(uint256 assets,address to)',
  'function approve(address spender,uint256 value)',
  'function transfer(address to,uint256 value)',
  'function turn()',
  'function arm(address its,bytes call)',
  'function entered() view returns (bool)',
])

/** Encodes a call of the gate, a vault or the token. */
export const encode = (name: string, ...values: unknown[]): Hex =>
  hex(forms.encodeFunctionData(name, values))

/** Reads one number from a contract. */
export async function read(
  { rpcUrl }: Pick<Chain, 'rpcUrl'>,
  to: Address,
  name: string,
  ...values: unknown[]
): Promise<bigint> {
  const [word] = await callRpc(rpcUrl, [
    ['eth_call', { to, data: encode(name, ...values) }, 'latest'],
  ])
  return BigInt(String(word))
}

/** Encodes an order as the gate decodes it. */
export function orderBytes({ vault, isDeposit, shares, minimumOut }: Order): string {
  const types = ['address', 'bool', 'uint256', 'uint256']
  return AbiCoder.defaultAbiCoder().encode(types, [vault, isDeposit, shares, minimumOut])
}

const fields = {
  from: 'address',
  to: 'address',
  value: 'uint256',
  validAfter: 'uint256',
  validBefore: 'uint256',
  nonce: 'bytes32',
}
const ReceiveWithAuthorization = Object.entries(fields).map(([name, type]) => ({ name, type }))

/** Signs an order; returns the call of the gate that carries it out, or one with another order instead. */
export async function signOrder(
  { network }: Pick<Chain, 'network'>,
  payer: Key,
  { gate, value, order }: { gate: Address; value: bigint; order: Order },
  carried: Order = order,
): Promise<Hex> {
  const { chain, usdc } = known(network)
  const base = hex(randomBytes(32).toString('hex'))
  const nonce = keccak256(concat([base, keccak256(orderBytes(order))]))
  const message = { from: payer.at, to: gate, value, validAfter: 0n, validBefore: 2n ** 40n, nonce }
  const domain = { ...usdc.domain, chainId: chain.id, verifyingContract: usdc.address }
  const signature = await payer.signTypedData(domain, { ReceiveWithAuthorization }, message)
  const { v, r, s } = Signature.from(signature)
  const held = { ...message, base, v, r, s }
  return encode('carry', held, orderBytes(carried))
}
