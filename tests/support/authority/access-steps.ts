/** Steps that sign in, and steps that change the ways to sign in. */
import { newDigest } from '../model/ledger.ts'
import {
  addPasskey,
  endOthers,
  endSession,
  losePasskeys,
  makeCodes,
  proveByPasskey,
  proveByPassword,
  removePasskey,
  setPassword,
  touch,
} from './access-questions.ts'
import type { Way } from './acts.ts'
import { lastOf, sessionAt } from './picking.ts'
import { perform } from './questions.ts'
import type { Session, Story } from './stage.ts'
import { enter } from './stage.ts'
import type { StepOf } from './steps.ts'
import { signIn } from './way-questions.ts'

export async function comeIn(story: Story, { way, which }: StepOf<'sign in'>): Promise<void> {
  const { cast } = story
  if (way === 'best') {
    for (const { id } of cast.passkeys.toReversed()) if (await comeBy(story, 'passkey', id)) return
    for (const one of cast.passwords.toReversed()) if (await comeBy(story, 'password', one)) return
    return
  }
  const held = {
    password: cast.passwords,
    recovery_code: cast.codes,
    passkey: cast.passkeys.map(({ id }) => id),
  }[way]
  const by = lastOf(held, which)
  if (by !== undefined) await comeBy(story, way, by)
}

async function comeBy(story: Story, way: Way, by: string): Promise<boolean> {
  const { cast } = story
  const credential = newDigest()
  const rows = await perform(story, signIn(story, way, by, credential))
  if (!rows) return false
  const [row] = await story.stage.ledger.query(
    'select id from private.credentials where digest = $1',
    [credential],
  )
  const session = { id: String(row?.['id']), credential }
  cast.sessions.push(session)
  if (way === 'passkey') countOn(story, by)
  enter(story, { do: 'sign in', session: session.id, way, by })
  return true
}

/** Increments the counter of a passkey, as each use does. */
export function countOn({ cast }: Story, used: string): void {
  const passkey = cast.passkeys.find(({ id }) => id === used)
  if (passkey) passkey.counter += 1
}

export async function stay(story: Story, step: StepOf<'touch'>): Promise<void> {
  const session = sessionAt(story, step.session)
  if (!session) return
  if (await perform(story, touch(story, session)))
    enter(story, { do: 'touch', session: session.id })
}

export async function prove(story: Story, { by, which, ...step }: StepOf<'prove'>): Promise<void> {
  const session = sessionAt(story, step.session)
  const password = lastOf(story.cast.passwords, which)
  const passkey = lastOf(story.cast.passkeys, which)
  if (!session || password === undefined) return
  if (by === 'passkey' && !passkey) return
  const question =
    by === 'passkey' && passkey
      ? proveByPasskey(story, session, passkey)
      : proveByPassword(story, session, password)
  if (!(await perform(story, question))) return
  renamed(session, question.args)
  if (by === 'passkey' && passkey) countOn(story, passkey.id)
  const used = by === 'passkey' && passkey ? passkey.id : password
  enter(story, { do: 'prove', session: session.id, by: used, isPasskey: by === 'passkey' })
}

/** Updates a session's credential: it changes after each proof. */
export function renamed(session: Session, args: { [name: string]: unknown }): void {
  session.credential = String(args['session_digest'])
}

export async function leave(story: Story, step: StepOf<'end session'>): Promise<void> {
  const session = sessionAt(story, step.session)
  const ended = sessionAt(story, step.ended)
  if (!session || !ended) return
  const rows = await perform(story, endSession(story, session, ended))
  if (rows) enter(story, { do: 'end session', session: session.id, ended: ended.id })
}

export async function leaveAlone(story: Story, step: StepOf<'end others'>): Promise<void> {
  const session = sessionAt(story, step.session)
  if (!session) return
  const rows = await perform(story, endOthers(story, session))
  if (rows) enter(story, { do: 'end other sessions', session: session.id })
}

export async function renewPassword(story: Story, step: StepOf<'new password'>): Promise<void> {
  const session = sessionAt(story, step.session)
  if (!session) return
  const password = newDigest()
  const question = setPassword(story, session, password)
  if (!(await perform(story, question))) return
  renamed(session, question.args)
  story.cast.passwords.push(password)
  enter(story, { do: 'set password', session: session.id, password })
}

export async function renewCodes(story: Story, step: StepOf<'new codes'>): Promise<void> {
  const session = sessionAt(story, step.session)
  if (!session) return
  const codes = [newDigest(), newDigest()]
  if (!(await perform(story, makeCodes(story, session, codes)))) return
  story.cast.codes.push(...codes)
  enter(story, { do: 'make codes', session: session.id, codes })
}

export async function takePasskey(story: Story, step: StepOf<'add passkey'>): Promise<void> {
  const session = sessionAt(story, step.session)
  if (!session) return
  const passkey = newDigest()
  if (!(await perform(story, addPasskey(story, session, passkey)))) return
  story.cast.passkeys.push({ id: passkey, counter: 0 })
  enter(story, { do: 'add passkey', session: session.id, passkey })
}

export async function dropPasskey(story: Story, step: StepOf<'remove passkey'>): Promise<void> {
  const session = sessionAt(story, step.session)
  const passkey = lastOf(story.cast.passkeys, step.which)
  if (!session || !passkey) return
  const rows = await perform(story, removePasskey(story, session, passkey.id))
  if (rows) enter(story, { do: 'remove passkey', session: session.id, passkey: passkey.id })
}

export async function giveUpPasskeys(story: Story, step: StepOf<'lose passkeys'>): Promise<void> {
  const session = sessionAt(story, step.session)
  if (!session) return
  const rows = await perform(story, losePasskeys(story, session))
  if (rows) enter(story, { do: 'lose passkeys', session: session.id })
}
