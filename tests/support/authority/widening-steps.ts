/** Steps about keys and apps, known recipients and devices, limits and the freeze. */
import * as z from 'zod'
import { newDigest } from '../model/ledger.ts'
import { freeze } from './agent-questions.ts'
import { isPermitted } from './agents.ts'
import { agentAt, sessionAt } from './picking.ts'
import { hasRow, perform } from './questions.ts'
import type { Story } from './stage.ts'
import { ask, bookOf, devices, enter, payees } from './stage.ts'
import { isOpen } from './standing.ts'
import type { StepOf } from './steps.ts'
import {
  addRecipient,
  appDays,
  asking,
  disconnect,
  forgetAllBy,
  letIn,
  makeKey,
  permit,
  removeDevice,
  removeRecipient,
  revokeKey,
  rotateKey,
  setLimit,
  unfreeze,
} from './widening-questions.ts'

export async function createKey(story: Story, { scope, ...step }: StepOf<'make key'>) {
  const session = sessionAt(story, step.session)
  if (!session) return
  const credential = newDigest()
  const rows = await perform(story, makeKey(story, session, scope, credential))
  if (!rows) return
  const id = String(rows[0]?.['key'])
  story.cast.agents.push({ id, credential, scope, refresh: null })
  enter(story, { do: 'make key', session: session.id, key: id, scope })
}

export async function replaceKey(story: Story, { hours, ...step }: StepOf<'rotate key'>) {
  const session = sessionAt(story, step.session)
  const agent = agentAt(story, step.agent)
  if (!session || !agent || agent.refresh !== null) return
  const credential = newDigest()
  const rows = await perform(story, rotateKey(story, session, agent, hours, credential))
  if (!rows) return
  const successor = String(rows[0]?.['placed'])
  story.cast.agents.push({ ...agent, id: successor, credential })
  const about = { key: agent.id, successor, overlapHours: hours }
  enter(story, { do: 'rotate key', session: session.id, ...about })
}

export async function endKey(story: Story, step: StepOf<'revoke key'>): Promise<void> {
  const session = sessionAt(story, step.session)
  const agent = agentAt(story, step.agent)
  if (!session || !agent) return
  const rows = await perform(story, revokeKey(story, session, agent))
  if (rows) enter(story, { do: 'revoke key', session: session.id, key: agent.id })
}

/** Lets the owner connect an app, which starts at once. */
export async function connect(story: Story, { scope, ...step }: StepOf<'let in'>): Promise<void> {
  const session = sessionAt(story, step.session)
  if (!session) return
  const [code, credential, refresh] = [newDigest(), newDigest(), newDigest()]
  if (!(await perform(story, letIn(story, session, scope, code)))) return
  enter(story, { do: 'let in', session: session.id, code, scope, days: appDays })
  const { client_id, challenge, redirect_uri } = asking
  const given = { client_id, challenge, redirect_uri }
  const answer = await ask(story, 'oauth_redeem_code', {
    code_digest: code,
    ...given,
    access_digest: credential,
    refresh_digest: refresh,
  })
  if (!Array.isArray(answer) || answer[0]?.['outcome'] !== 'granted') return
  const [row] = await story.stage.ledger.query(
    'select granted as id from private.access_tokens where digest = $1',
    [credential],
  )
  const id = String(row?.['id'])
  story.cast.agents.push({ id, credential, scope, refresh })
  enter(story, { do: 'begin', app: id, code })
}

export async function renewAccess(story: Story, step: StepOf<'refresh'>): Promise<void> {
  const agent = agentAt(story, step.agent)
  if (!agent?.refresh) return
  const [credential, successor] = [newDigest(), newDigest()]
  const answer = await ask(story, 'oauth_refresh', {
    refresh_digest: agent.refresh,
    successor_digest: successor,
    client_id: asking.client_id,
    access_digest: credential,
  })
  if (!Array.isArray(answer) || answer[0]?.['outcome'] !== 'rotated') return
  agent.credential = credential
  agent.refresh = successor
}

export async function endApp(story: Story, step: StepOf<'disconnect'>): Promise<void> {
  const session = sessionAt(story, step.session)
  const agent = agentAt(story, step.agent)
  if (!session || !agent) return
  const rows = await perform(story, disconnect(story, session, agent))
  if (rows) enter(story, { do: 'disconnect', session: session.id, app: agent.id })
}

export async function know(story: Story, step: StepOf<'know'>): Promise<void> {
  const session = sessionAt(story, step.session)
  const address = payees[step.payee % payees.length] ?? payees[0]
  if (!session) return
  const rows = await perform(story, addRecipient(story, session, address))
  if (rows) enter(story, { do: 'add recipient', session: session.id, address })
}

export async function forgetRecipient(story: Story, step: StepOf<'forget'>): Promise<void> {
  const session = sessionAt(story, step.session)
  const address = payees[step.payee % payees.length] ?? payees[0]
  if (!session) return
  const rows = await perform(story, removeRecipient(story, session, address))
  if (rows) enter(story, { do: 'remove recipient', session: session.id, address })
}

export async function forgetDevice(story: Story, step: StepOf<'forget device'>): Promise<void> {
  const session = sessionAt(story, step.session)
  const agent = agentAt(story, step.agent)
  const device = devices[step.device % devices.length] ?? devices[0]
  if (!session || !agent) return
  const rows = await perform(story, removeDevice(story, session, agent, device))
  if (rows) enter(story, { do: 'remove device', session: session.id, key: agent.id, device })
}

export async function forgetBy(story: Story, step: StepOf<'forget all by'>): Promise<void> {
  const session = sessionAt(story, step.session)
  const agent = agentAt(story, step.agent)
  if (!session || !agent) return
  const rows = await perform(story, forgetAllBy(story, session, agent))
  if (rows) enter(story, { do: 'forget all by', session: session.id, key: agent.id })
}

export async function changeLimit(story: Story, { name, usd, ...step }: StepOf<'set limit'>) {
  const session = sessionAt(story, step.session)
  if (!session) return
  const micros = usd * 1_000_000
  const rows = await perform(story, setLimit(story, session, name, micros))
  if (rows) enter(story, { do: 'set limit', session: session.id, name, micros })
}

export async function allow(story: Story, { what, permits, ...step }: StepOf<'permit'>) {
  const session = sessionAt(story, step.session)
  const agent = agentAt(story, step.agent)
  if (!session || !agent) return
  const to = what === 'shows_codes' ? '' : agent.id
  const isSo = isPermitted(bookOf(story), what, to) === permits
  const rows = await perform(story, permit(story, session, what, agent, permits))
  if (rows && !isSo) enter(story, { do: 'permit', session: session.id, what, to, permits })
}

/** Freezes the account, by a key or app or by the owner. */
export async function stopAll(story: Story, step: StepOf<'freeze'>): Promise<void> {
  const session = sessionAt(story, step.session)
  const agent = step.agent === null ? undefined : agentAt(story, step.agent)
  const book = bookOf(story)
  const byOwner = session && {
    kind: 'freeze in a session',
    words: session.id,
    name: 'freeze_account',
    args: { credential: session.credential, listed_max: 1 },
    isDone: hasRow,
    isGiven: () => isOpen(book, session.id),
  }
  const question = agent ? freeze(story, agent) : byOwner
  if (!question || !(await perform(story, question))) return
  enter(story, { do: 'freeze' })
  await noteReleased(story)
}

const released = z.array(z.object({ id: z.uuid() }))

/** Records payments that were signed and then released, which no longer count against a limit. */
export async function noteReleased(story: Story): Promise<void> {
  const rows = await story.stage.ledger.query(
    `select id from private.payments where account = $1 and state = 'released'`,
    [story.account],
  )
  for (const { id } of released.parse(rows)) {
    const isNoted = story.acts.some((act) => act.do === 'release' && act.payment === id)
    if (!isNoted) enter(story, { do: 'release', payment: id })
  }
}

export async function goOnAgain(story: Story, step: StepOf<'unfreeze'>): Promise<void> {
  const session = sessionAt(story, step.session)
  if (!session) return
  if (await perform(story, unfreeze(story, session))) {
    enter(story, { do: 'unfreeze', session: session.id })
  }
}
