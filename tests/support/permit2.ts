/**
 * Permit2's real code on a local chain, and calls that x402's proxies make by their source. Their own code
 * is in no package, so Permit2 is called in the name of their addresses.
 */

import { execFile } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { AbiCoder, Interface, keccak256 } from 'ethers'
import * as z from 'zod'
import { callRpc, transact } from '../../scripts/local/chain/rpc.ts'
import { type Chain, fund } from '../../scripts/local/chain.ts'
import { permit2Address } from '../../shared/chains/evm/rpc/places.ts'
import { permit2Spenders } from '../../shared/custody/typed-digest.ts'
import { hex } from './chain-world.ts'
import { atEnd } from './ending.ts'

export const installTimeoutMilliseconds = 300_000
const artifact =
  'node_modules/@uniswap/v4-periphery/foundry-out/DeployPermit2.sol/DeployPermit2.json'
const artifactFields = z.object({ deployedBytecode: z.object({ object: z.string() }) })
const code = new Interface([
  'function permitWitnessTransferFrom(((address token,uint256 amount) permitted,uint256 nonce,uint256 deadline) permit,(address to,uint256 requestedAmount) details,address owner,bytes32 witness,string witnessType,bytes signature)',
  'function approve(address,uint256)',
  'function permit(address,address,uint256,uint256,bytes)',
])

const address = z.templateLiteral(['0x', z.string().regex(/^[0-9a-fA-F]{40}$/)])
/** Payload of exact or upto through Permit2. */
export const permitPayload = z.object({
  signature: z.string(),
  permit2Authorization: z.object({
    from: address,
    permitted: z.object({ token: address, amount: z.string() }),
    spender: address,
    nonce: z.string(),
    deadline: z.string(),
    witness: z.object({
      to: address,
      facilitator: address.optional(),
      validAfter: z.string(),
    }),
  }),
})
export type PermitPayload = z.output<typeof permitPayload>

/** Payload of the extension eip2612GasSponsoring, with the payer's signature. */
const allowanceInfo = z.object({
  from: address,
  asset: address,
  spender: address,
  amount: z.string(),
  nonce: z.string(),
  deadline: z.string(),
  signature: z.string(),
  version: z.literal('1'),
})

/** Deploys Permit2's code, which is contained as a whole in the contract that deploys it in tests. */
export async function placePermit2({ rpcUrl }: Chain): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'aoa-permit2-'))
  atEnd(() => rmSync(directory, { recursive: true, force: true }))
  const peer = fileURLToPath(new URL('../peers/permit2', import.meta.url))
  cpSync(peer, directory, { recursive: true })
  const timeout = installTimeoutMilliseconds
  await promisify(execFile)('npm', ['ci', '--ignore-scripts'], { cwd: directory, timeout })
  const read: unknown = JSON.parse(readFileSync(join(directory, artifact), 'utf8'))
  const { object } = artifactFields.parse(read).deployedBytecode
  const runtime = object.slice(object.indexOf('6040608081526004908136101561001557'))
  await callRpc(rpcUrl, [
    ['anvil_setCode', permit2Address, `0x${runtime.slice(0, 2 * 9_152)}`],
    ['anvil_autoImpersonateAccount', true],
  ])
  await placeProxies({ rpcUrl })
}

/** Puts some code at the proxies' addresses, as on a chain that has them. */
export async function placeProxies({ rpcUrl }: Pick<Chain, 'rpcUrl'>): Promise<void> {
  const stop = '0x00'
  await callRpc(
    rpcUrl,
    Object.values(permit2Spenders).map((proxy) => ['anvil_setCode', proxy, stop]),
  )
}

/** Sends from an address without its key; throws on a revert. */
async function sendAs(chain: Chain, from: `0x${string}`, to: `0x${string}`, data: string) {
  await fund(chain, from, { weiAmount: 10n ** 18n })
  return transact(chain.rpcUrl, from, to, hex(data))
}

/** Approves Permit2 as the owner itself. */
export function allow(chain: Chain, owner: `0x${string}`, amount: bigint) {
  return sendAs(
    chain,
    owner,
    chain.usdc,
    code.encodeFunctionData('approve', [permit2Address, amount]),
  )
}

/** Submits the signed approval, as a facilitator does. */
export function useAllowance(chain: Chain, sender: `0x${string}`, info: unknown) {
  const { from, spender, amount, deadline, signature } = allowanceInfo.parse(info)
  const permit = [from, spender, amount, deadline, signature]
  return sendAs(chain, sender, chain.usdc, code.encodeFunctionData('permit', permit))
}

/** Uses a permit as the proxy of its scheme does by its source; throws on a revert. */
export function usePermit(chain: Chain, payload: PermitPayload, amount: bigint) {
  const { from, to, data } = permitCall(payload, amount)
  return sendAs(chain, from, to, data)
}

/** Returns the call of Permit2 that a proxy makes. */
export function permitCall(
  { signature, permit2Authorization: permit }: PermitPayload,
  amount: bigint,
) {
  const { permitted, nonce, deadline, witness, spender, from } = permit
  const { to, facilitator, validAfter } = witness
  const type = `Witness(address to,${facilitator ? 'address facilitator,' : ''}uint256 validAfter)`
  const fields = facilitator ? [to, facilitator, validAfter] : [to, validAfter]
  const types = facilitator ? ['address', 'address', 'uint256'] : ['address', 'uint256']
  const words = AbiCoder.defaultAbiCoder().encode(types, fields).slice(2)
  const hash = keccak256(`${keccak256(Buffer.from(type))}${words}`)
  const permissions = 'TokenPermissions(address token,uint256 amount)'
  const data = code.encodeFunctionData('permitWitnessTransferFrom', [
    { permitted, nonce, deadline },
    { to, requestedAmount: amount },
    from,
    hash,
    `Witness witness)${permissions}${type}`,
    signature,
  ])
  return { from: spender, to: permit2Address, data }
}
