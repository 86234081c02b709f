/**
 * Contracts on the chain of a play: Permit2's own code, the proxies of x402 and a facilitator contract. The
 * latter two are compiled from their source when they are first needed.
 */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { inflateSync } from 'node:zlib'
import { getAddress, Interface } from 'ethers'
import * as z from 'zod'
import { callRpc } from '../../../scripts/local/chain/rpc.ts'
import type { Chain } from '../../../scripts/local/chain.ts'
import { compileContracts } from '../../../scripts/local/contracts/compile.ts'
import { permit2Address } from '../../../shared/chains/evm/rpc/places.ts'
import { permit2Spenders } from '../../../shared/custody/typed-digest.ts'
import { hex } from '../chain-world.ts'
import type { PermitPayload } from '../permit2.ts'

const fileOf = (path: string) => fileURLToPath(new URL(path, import.meta.url))
let codes: ReturnType<typeof compileContracts> | undefined

/** Returns the deployed code of a contract. */
export function decoyCode(name: string): `0x${string}` | undefined {
  codes ??= compileContracts(fileOf('../../chain/decoys.sol'))
  return codes.get(name)?.deployedBytecode
}

const vector = z.object({ runtime_deflated_base64: z.string() })

/** Returns Permit2's code from Uniswap's package. */
export function permit2Code(): `0x${string}` {
  const read: unknown = JSON.parse(readFileSync(fileOf('../../vectors/permit2.json'), 'utf8'))
  const deflated = Buffer.from(vector.parse(read).runtime_deflated_base64, 'base64')
  return hex(inflateSync(deflated).toString('hex'))
}

/** Addresses of the facilitator contracts. */
export const crowdAddresses = [
  getAddress('0xc0de00000000000000000000000000000000c0d1'),
  getAddress('0xc0de00000000000000000000000000000000c0d2'),
] as const

/** Deploys all contracts at their addresses. */
export async function placeContracts({ rpcUrl }: Pick<Chain, 'rpcUrl'>): Promise<void> {
  const places: [string, string | undefined][] = [
    [permit2Address, permit2Code()],
    [permit2Spenders.exact, decoyCode('ExactProxy')],
    [permit2Spenders.upto, decoyCode('UptoProxy')],
    ...crowdAddresses.map((at): [string, string | undefined] => [at, decoyCode('Crowd')]),
  ]
  await callRpc(rpcUrl, [
    ...places.map(([at, code]) => ['anvil_setCode', at, code] as const),
    ['anvil_autoImpersonateAccount', true],
  ])
}

const permit = '((address token,uint256 amount) permitted,uint256 nonce,uint256 deadline) permit'
const exactForm = new Interface([
  `function settle(${permit},address owner,(address to,uint256 validAfter) witness,bytes signature)`,
])
const uptoForm = new Interface([
  `function settle(${permit},uint256 amount,address owner,(address to,address facilitator,uint256 validAfter) witness,bytes signature)`,
])

/** A call that an account makes, or has a contract make. */
export type Step = { target: string; data: string }

/** Returns the call of x402's proxy that uses a permit; upto takes `amount`. */
export function settleStep(
  { signature, permit2Authorization: { permitted, nonce, deadline, witness, from } }: PermitPayload,
  amount: bigint,
): Step {
  const terms = { permitted, nonce, deadline }
  const { to, facilitator, validAfter } = witness
  if (facilitator === undefined) {
    const values = [terms, from, { to, validAfter }, signature]
    return { target: permit2Spenders.exact, data: exactForm.encodeFunctionData('settle', values) }
  }
  const values = [terms, amount, from, { to, facilitator, validAfter }, signature]
  return { target: permit2Spenders.upto, data: uptoForm.encodeFunctionData('settle', values) }
}

const crowdForm = new Interface([
  'function run((address target,bytes data)[] steps)',
  'function store((address target,bytes data)[] steps)',
  'function fire()',
  'function flood(address token,address from,address to,uint256 times)',
])

/** Calldata for the crowd contract. */
export const crowd = {
  run: (steps: readonly Step[]) => hex(crowdForm.encodeFunctionData('run', [steps])),
  store: (steps: readonly Step[]) => hex(crowdForm.encodeFunctionData('store', [steps])),
  fire: () => hex(crowdForm.encodeFunctionData('fire')),
  /** Writes this many transfers of zero. */
  flood: (token: string, from: string, to: string, times: number) =>
    hex(crowdForm.encodeFunctionData('flood', [token, from, to, times])),
}
