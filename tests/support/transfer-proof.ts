/** Proofs as tests use them: full blocks around a payment, and a checker's verdict on a proof. */
import fc from 'fast-check'
import * as z from 'zod'
import { callRpc } from '../../scripts/local/chain/rpc.ts'
import {
  checkAgainstNode,
  checkProof,
  type Inclusion,
  type NodeView,
  type Proof,
  readProof,
} from '../../scripts/verify-proof/check.ts'
import type { Answer } from './world.ts'

export type Included = Proof & { inclusion: Inclusion }

/** Returns the proof of an answer with its inclusion; throws if there is no inclusion. */
export function provenIn(answer: Answer): Included {
  const { inclusion, ...proof } = readProof(JSON.stringify(answer.body))
  if (!inclusion) throw new Error('no inclusion')
  return { ...proof, inclusion }
}

/** Returns the checks that fail for a reader with this view of the chain. */
export function faultsOf(proof: Proof, view: NodeView): string[] {
  const checks = [...checkProof(proof), ...checkAgainstNode(proof, view)]
  return checks.flatMap(({ name, fault }) => (fault === undefined ? [] : [name]))
}

const accountsSchema = z.array(z.string())

/**
 * Puts transactions of all kinds into the pool: plain and dynamic fees, with and without logs, some that
 * revert. Their tips differ, so that blocks mix them with other transactions.
 */
export async function crowd(rpcUrl: string, token: string, count: number): Promise<void> {
  const accounts = accountsSchema.parse((await callRpc(rpcUrl, [['eth_accounts']]))[0])
  const counts = await callRpc(
    rpcUrl,
    accounts.map((account) => ['eth_getTransactionCount', account, 'pending']),
  )
  const sent = Array.from({ length: count }, (_, at) => {
    const from = accounts[at % accounts.length] ?? ''
    const before = BigInt(z.string().parse(counts[at % accounts.length]))
    const nonce = quantity(before + BigInt(Math.floor(at / accounts.length)))
    return ['eth_sendTransaction', { from, nonce, ...kindOf(at, token) }] as const
  })
  if (count > 0) await callRpc(rpcUrl, sent)
}

function kindOf(at: number, token: string): object {
  const tip = quantity(1_000_000n + BigInt((at * 7_919) % 1_000))
  const dynamic = { maxFeePerGas: '0x4a817c800', maxPriorityFeePerGas: tip }
  // approve(address,uint256) leaves a log; transfer(address,uint256) of an absent balance reverts.
  const words = `${'00'.repeat(31)}01${'00'.repeat(31)}05`
  const logging = { to: token, data: `0x095ea7b3${words}`, gas: '0x186a0' }
  const reverting = { to: token, data: `0xa9059cbb${words}`, gas: '0x186a0' }
  const plain = { to: `0x${'00'.repeat(19)}ff`, value: '0x1', gas: '0x5208' }
  const kinds = [
    { ...plain, gasPrice: '0x4a817c800' },
    { ...logging, ...dynamic },
    { ...plain, ...dynamic },
    { ...reverting, ...dynamic },
    { ...logging, gasPrice: '0x4a817c800', accessList: [] },
  ]
  return kinds[at % kinds.length] ?? plain
}

function quantity(value: bigint): string {
  return `0x${value.toString(16)}`
}

/** Draws the proof with one hex digit, number, letter or trie node changed, anywhere in it. */
export function mutationsOf(proof: Included): fc.Arbitrary<Included> {
  const places = placesOf(proof, [])
  return fc
    .tuple(fc.constantFrom(...places), fc.nat(), fc.integer({ min: 1, max: 15 }))
    .map(([path, at, by]) => changed(proof, path, (leaf) => mutated(leaf, at, by)))
}

type Path = readonly (string | number)[]

const includedSchema = z.custom<Included>((value) => typeof value === 'object')

/** Returns the paths of all values that are not containers. */
function placesOf(value: unknown, path: Path): Path[] {
  if (typeof value !== 'object' || value === null) return [path]
  return Object.entries(value).flatMap(([key, inner]) => placesOf(inner, [...path, key]))
}

function changed(proof: Included, path: Path, change: (leaf: unknown) => unknown): Included {
  const walk = (value: unknown, depth: number): unknown => {
    const key = path[depth]
    if (key === undefined) return change(value)
    const copy: unknown = structuredClone(value)
    Reflect.set(Object(copy), key, walk(Reflect.get(Object(value), key), depth + 1))
    return copy
  }
  return includedSchema.parse(walk(proof, 0))
}

function mutated(leaf: unknown, at: number, by: number): unknown {
  if (typeof leaf === 'number') return leaf + by
  if (typeof leaf !== 'string') return `0x${'11'.repeat(32)}`
  const start = leaf.startsWith('0x') ? 2 : 0
  const place = start + (at % (leaf.length - start))
  const digit = Number.parseInt(leaf.charAt(place), 16)
  const other = Number.isNaN(digit) ? '#' : ((digit + by) % 16).toString(16)
  return leaf.slice(0, place) + other + leaf.slice(place + 1)
}
