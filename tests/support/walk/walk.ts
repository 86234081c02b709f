/**
 * A random walk of an owner and of thieves through one account, with everything that a session can do about ways in
 * and limits. What each session may do is known to the walk from the proofs that were given, not from the database.
 */

import type { Dice } from '../model/dice.ts'
import { start } from '../world.ts'
import { endedIn, type Standing, standingOf, widenedIn } from './standing.ts'
import { acts, endings, entries, type Session, type Walk } from './steps.ts'

/** Opens an account with an owner and walks; returns each broken invariant with its step. */
export async function walk(length: number, dice: Dice): Promise<string[]> {
  const world = await start()
  const { id: account, alias } = await world.agent('pay')
  const email = `${alias}@people.example`
  await world.db.sql`insert into private.owners (account, email, password_hash)
    values (${account}, ${email}, 'first')`
  const told: Walk = {
    world,
    account,
    email,
    dice,
    sessions: [],
    recoveredAt: 0,
    passwords: ['first'],
    passkeys: [],
    codes: [],
  }
  const broken: string[] = []
  for (let step = 0; step < length; step += 1) {
    const found = await takeStep(told)
    broken.push(...found.map((what) => `step ${step}: ${what}`))
  }
  return broken
}

async function takeStep(told: Walk): Promise<string[]> {
  const { world, dice, account } = told
  if (dice.isLucky(20)) await world.tick(dice.oneOf([30, 60, 120, 300, 660]))
  if (dice.isLucky(3)) await world.tick(dice.oneOf([6 * 3_600, 25 * 3_600, 49 * 3_600]))
  // Buckets are not what is tried here.
  await world.db.sql`delete from private.rate_buckets`
  const before = await standingOf(world, account)
  const step = dice.anyOf(dice.isLucky(50) ? entries : dice.isLucky(90) ? acts : endings)
  if (!step) return []
  const { by, isDone } = await step.take(told, before)
  const after = await standingOf(world, account)
  const taken = { step: step.name, before, after, recoveredAt: told.recoveredAt }
  if (isDone) return faultsOf({ ...taken, by })
  // Any step may complete a hold that is over, whatever becomes of it.
  if (isOver(before)) return faultsOf({ ...taken, by: undefined })
  return changesOf(step.name, before, after)
}

type Taken = {
  step: string
  by: Session | undefined
  before: Standing
  after: Standing
  recoveredAt: number
}

/** Checks the first, second and fourth invariant after a step. */
function faultsOf({ step, by, before, after, recoveredAt }: Taken): string[] {
  const isHeld = before.hold_until !== null && !isOver(before)
  const isFresh =
    by !== undefined &&
    isFreshIn(
      by,
      isOver(before) && before.pending_passkey_removal ? { ...before, passkeys: [] } : before,
    )
  const isCompleted =
    isOver(before) &&
    after.password_hash === before.pending_password_hash &&
    before.now >= recoveredAt + 48 * 3_600
  const widened = widenedIn(before, after).filter((what) => !(isCompleted && what === 'password'))
  const faults: string[] = []
  if (widened.length > 0 && !isFresh)
    faults.push(`${step} widened ${widened.join()} without a proof`)
  if (widened.length > 0 && isHeld) faults.push(`${step} widened ${widened.join()} in a hold`)
  const ended = endedIn(before, after).filter(
    (what) => !(step === 'sign in with a code' && what === 'codes'),
  )
  const isOwn = step === 'leave' && ended.join() === 'sessions'
  const isRenamed = /prove/.test(step) && ended.join() === 'sessions'
  if (isHeld && ended.length > 0 && !isOwn && !isRenamed && !(step === 'end the hold' && isFresh)) {
    const known = ended.filter((what) => what !== 'recipients')
    if (known.length > 0) faults.push(`${step} ended ${known.join()} in a hold`)
  }
  if (before.password_hash !== after.password_hash && !isFresh && !isCompleted) {
    faults.push(`${step} changed the password`)
  }
  return faults
}

/** True if a hold is over and not completed yet. */
function isOver({ hold_until, now }: Standing): boolean {
  return hold_until !== null && hold_until <= now
}

/** Checks that a step that was refused changed nothing: the third invariant. */
function changesOf(step: string, before: Standing, after: Standing): string[] {
  const changed = [...widenedIn(before, after), ...endedIn(before, after)]
  return changed.length === 0 ? [] : [`${step} was refused and changed ${changed.join()}`]
}

function isFreshIn({ proof }: Session, { now, passkeys }: Standing): boolean {
  if (!proof || proof.at <= now - 600) return false
  return passkeys.length === 0 || passkeys.includes(proof.by)
}
