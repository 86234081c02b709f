/** Plays a script: for each action one second, one block, and at intervals a check of the invariants. */
import type { Action, ActionName, ActionOf } from './actions.ts'
import { again, buy, expose, freeze, mandate, status, transfer, transfers } from './agent-acts.ts'
import { mine } from './blocks.ts'
import { freezeNow } from './book.ts'
import { movesMoneyOf } from './given-out.ts'
import { brokenInvariant } from './invariants.ts'
import {
  forget,
  lie,
  mineSome,
  outage,
  reorganize,
  setBaseFee,
  setMining,
  wait,
} from './nature-acts.ts'
import { drain, drip, flood, frontRun, openShop, setManner, use } from './outside-acts.ts'
import { approve, house, limit, refill, unfreeze } from './owner-acts.ts'
import type { Play } from './play.ts'
import { settleDown } from './settle-down.ts'

/** The broken invariant in words, and the number of actions before it. */
export type Broken = { what: string; after: number }

const actionsBetweenLooks = 10

export type Looking = {
  /** Actions between two checks; waiting is followed by a check anyway. */
  every: number
  /** True if the play goes on until every payment is final. */
  toEnd: boolean
}

/** Plays a script to its end and returns the first invariant that breaks. */
export async function perform(
  play: Play,
  script: readonly Action[],
  { every, toEnd }: Looking = { every: actionsBetweenLooks, toEnd: true },
): Promise<Broken | undefined> {
  openShop(play)
  watchSending(play)
  for (const [at, action] of script.entries()) {
    await play.clock.advance(1)
    await act(play, action)
    if (play.isMining) await mine(play.world.chain)
    const isLooked = at % every === every - 1 || action.do === 'wait'
    const what = isLooked ? await brokenInvariant(play) : undefined
    if (what !== undefined) return { what, after: at + 1 }
  }
  const what = toEnd ? await settleDown(play) : await brokenInvariant(play)
  return what === undefined ? undefined : { what, after: script.length }
}

/**
 * Watches what the service sends: bytes that move money of a frozen account may be sent only if a node has
 * them already.
 */
export function watchSending({ network, book, thief, clock }: Play): void {
  network.onSend = (raw) => {
    const freeze = freezeNow(book)
    if (!freeze || freeze.at === clock.seconds() || network.accepted.has(raw)) return
    if (!movesMoneyOf(raw, thief.address)) return
    book.broken.push('frozen: the service sends a transfer that no node had before the freeze')
  }
}

const performers: { [Name in ActionName]: (play: Play, action: ActionOf<Name>) => Promise<void> } =
  {
    transfer,
    transfers,
    buy,
    again,
    'ask mandate': mandate,
    status,
    expose,
    freeze,
    manner: setManner,
    use,
    flood,
    'front-run': frontRun,
    drip,
    drain,
    approve,
    limit,
    unfreeze,
    refill,
    house,
    wait,
    mine: mineSome,
    mining: setMining,
    reorg: reorganize,
    forget,
    'base fee': setBaseFee,
    lie,
    outage,
  }

/** Performs one action. */
export function act<Name extends ActionName>(play: Play, action: ActionOf<Name>): Promise<void> {
  return performers[action.do](play, action)
}
