/**
 * What one endpoint must not be believed alone: that a signature can no longer be used, that a block is
 * gone, that less was taken than was signed for, what moved in final blocks. Each endpoint is asked by
 * itself and answers from its own state, its own latest and its own finalized block; one that is silent
 * agrees to nothing.
 */
import { sha256Hex } from '../../digest.ts'
import type { Chain } from '../chain.ts'
import type { Unavailable } from './answer.ts'
import { unavailable } from './answer.ts'
import { answersUntil } from './answers-until.ts'
import { isEnough } from './enough.ts'
import type { ChainWorld, Rpc } from './rpc.ts'
import { endpointsFor } from './rpc.ts'

/** Whether enough of a chain's endpoints say yes. Once they do, or no longer can, nobody is waited for. */
export async function isAgreed(
  world: ChainWorld,
  chain: Chain,
  ask: (rpc: Rpc) => Promise<boolean>,
): Promise<boolean> {
  const endpoints = endpointsFor(world, chain)
  const count = (says: (at: number) => boolean) =>
    isEnough(endpoints.map(({ operator }, at) => ({ operator, agrees: says(at) })))
  const asked = endpoints.map(({ rpc }) => ask(rpc))
  const answers = await answersUntil(asked, (soFar) => {
    return count((at) => soFar[at] === true) || !count((at) => soFar[at] !== false)
  })
  return count((at) => answers[at] === true)
}

/** What enough endpoints say alike. `disagreed`: not enough do, and two contradict each other. */
export type Agreed<Answer> =
  | { status: 'agreed'; answer: Answer }
  | { status: 'disagreed'; log: string }
  | Unavailable

/**
 * Asks one endpoint after the other until enough of them gave the same answer, down to what is absent
 * from it: two of two, and of more two that different operators run.
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
    if (isEnough(votes)) return { status: 'agreed', answer }
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
