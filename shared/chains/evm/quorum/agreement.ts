/**
 * Finds what enough endpoints answer alike, for what one must not establish alone. Each is asked separately
 * and answers from its own state. A silent endpoint agrees to nothing.
 */
import { sha256Hex } from '../../../digest.ts'
import type { Chain } from '../../chain.ts'
import type { Unavailable } from '../rpc/answer.ts'
import { unavailable } from '../rpc/answer.ts'
import type { ChainWorld, Rpc } from '../rpc/rpc.ts'
import { endpointsFor } from '../rpc/rpc.ts'
import { isQuorum } from './enough.ts'

/** Answer of a quorum. `disagreed`: there is no quorum, and two endpoints contradict each other. */
export type Agreed<Answer> =
  | { status: 'agreed'; answer: Answer }
  | { status: 'disagreed'; log: string }
  | Unavailable

/**
 * Asks one endpoint after the other until a quorum gave the same answer, including what is absent from it.
 * With two endpoints both must agree; with more, two of different operators suffice.
 */
export async function findAgreed<Answer extends object>(
  world: ChainWorld,
  chain: Chain,
  ask: (rpc: Rpc) => Promise<Answer | Unavailable>,
): Promise<Agreed<Answer>> {
  const endpoints = endpointsFor(world, chain)
  const said = new Map<Rpc, string>()
  let silence = unavailable('no endpoint')
  for (const { rpc } of endpoints) {
    const answer = await ask(rpc)
    if (isUnavailable(answer)) {
      silence = answer
      continue
    }
    const own = await sha256Hex(textOf(answer))
    said.set(rpc, own)
    const votes = endpoints.map((one) => ({ ...one, agrees: said.get(one.rpc) === own }))
    if (isQuorum(votes)) return { status: 'agreed', answer }
  }
  const isContradicted = new Set(said.values()).size > 1
  return isContradicted ? { status: 'disagreed', log: 'endpoints disagree' } : silence
}

function isUnavailable(answer: object): answer is Unavailable {
  return 'status' in answer && answer.status === 'unavailable'
}

function textOf(answer: object): string {
  return JSON.stringify(answer, (_, value: unknown) =>
    typeof value === 'bigint' ? value.toString() : value,
  )
}
