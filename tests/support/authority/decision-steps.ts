/** Steps of an owner who decides about payments and mandates, or says "it was not me". */
import * as z from 'zod'
import { newDigest } from '../model/ledger.ts'
import { listMade } from './access-questions.ts'
import { countOn, renamed } from './access-steps.ts'
import {
  approve,
  approveSeveral,
  decideMandate,
  decline,
  revokeMandate,
  suspend,
} from './decision-questions.ts'
import { approvalOf, mandateApproval } from './paying.ts'
import { lastOf, sessionAt } from './picking.ts'
import { perform } from './questions.ts'
import { noTicks, readShown } from './rows.ts'
import type { Story } from './stage.ts'
import { ask, bookOf, enter } from './stage.ts'
import type { StepOf } from './steps.ts'
import { undoingSince } from './undoing.ts'
import { removedPasskeys } from './ways-in.ts'
import { noteReleased } from './widening-steps.ts'

const signingOf = ({ cast }: Story, place: number | null) =>
  place === null ? null : (lastOf(cast.passkeys, place) ?? null)

export async function sayYes(story: Story, { ticks, ...step }: StepOf<'approve'>): Promise<void> {
  const session = sessionAt(story, step.session)
  const payment = lastOf(story.cast.payments, step.payment)
  if (!session || !payment) return
  const signing = signingOf(story, step.signing)
  const given = { payment, ticks, signing }
  const question = await approve(story, await readShown(story), session, given)
  if (!(await perform(story, question))) return
  if (signing) countOn(story, signing.id)
  if (approvalOf(bookOf(story), payment)) return
  const level = signing ? 'user_passkey' : 'user_session'
  enter(story, { do: 'approve', session: session.id, payment, ticks, level })
}

export async function sayYesToSeveral(story: Story, step: StepOf<'approve several'>) {
  const session = sessionAt(story, step.session)
  if (!session) return
  const signing = signingOf(story, step.signing)
  const payments = story.cast.payments.slice(-step.payments)
  const given = { payments, signing }
  const question = await approveSeveral(story, await readShown(story), session, given)
  if (!(await perform(story, question))) return
  if (signing) countOn(story, signing.id)
  const level = signing ? 'user_passkey' : 'user_session'
  for (const payment of payments) {
    enter(story, { do: 'approve', session: session.id, payment, ticks: noTicks, level })
  }
}

export async function sayNo(story: Story, step: StepOf<'decline'>): Promise<void> {
  const session = sessionAt(story, step.session)
  const payment = lastOf(story.cast.payments, step.payment)
  if (!session || !payment) return
  const shown = await readShown(story)
  const found = shown.payments.find(({ row }) => row.id === payment)
  if (!found) return
  const { sha: digest } = await digestNow(story, payment)
  const question = decline(story, session, payment)
  const args = { ...question.args, digest }
  const rows = await perform(story, { ...question, args })
  if (rows) enter(story, { do: 'decline', session: session.id, payment })
}

const digestRow = z.tuple([z.object({ sha: z.string() })])

/** Returns the digest of the terms as the row has them, which the payment's page shows. */
async function digestNow({ stage }: Story, payment: string) {
  const rows = await stage.ledger.query(
    'select private.terms_digest(p) as sha from private.payments p where p.id = $1',
    [payment],
  )
  return digestRow.parse(rows)[0]
}

export async function giveMandate(story: Story, step: StepOf<'approve mandate'>): Promise<void> {
  const session = sessionAt(story, step.session)
  const mandate = lastOf(story.cast.mandates, step.mandate)
  if (!session || !mandate) return
  const { anyKey } = step
  const signing = signingOf(story, step.signing)
  const given = { mandate, decision: 'approved' as const, anyKey, signing }
  const question = await decideMandate(story, await readShown(story), session, given)
  if (!(await perform(story, question))) return
  if (signing) countOn(story, signing.id)
  if (mandateApproval(bookOf(story), mandate)) return
  const isByPasskey = signing !== null
  enter(story, { do: 'approve mandate', session: session.id, mandate, anyKey, isByPasskey })
}

export async function refuseMandate(story: Story, step: StepOf<'decline mandate'>) {
  const session = sessionAt(story, step.session)
  const mandate = lastOf(story.cast.mandates, step.mandate)
  if (!session || !mandate) return
  const given = { mandate, decision: 'declined' as const, anyKey: false, signing: null }
  const question = await decideMandate(story, await readShown(story), session, given)
  if (await perform(story, question)) {
    enter(story, { do: 'decline mandate', session: session.id, mandate })
  }
}

export async function stopMandate(story: Story, step: StepOf<'suspend'>): Promise<void> {
  const session = sessionAt(story, step.session)
  const mandate = lastOf(story.cast.mandates, step.mandate)
  if (!session || !mandate) return
  const question = suspend(story, session, { mandate, suspended: true })
  if (await perform(story, question)) {
    enter(story, { do: 'suspend mandate', session: session.id, mandate })
  }
}

export async function resumeMandate(story: Story, step: StepOf<'resume'>): Promise<void> {
  const session = sessionAt(story, step.session)
  const mandate = lastOf(story.cast.mandates, step.mandate)
  if (!session || !mandate) return
  const question = suspend(story, session, { mandate, suspended: false })
  if (await perform(story, question)) {
    enter(story, { do: 'resume mandate', session: session.id, mandate })
  }
}

export async function endMandate(story: Story, step: StepOf<'revoke mandate'>): Promise<void> {
  const session = sessionAt(story, step.session)
  const mandate = lastOf(story.cast.mandates, step.mandate)
  if (!session || !mandate) return
  const rows = await perform(story, revokeMandate(story, session, mandate))
  if (rows) enter(story, { do: 'revoke mandate', mandate })
}

const listSchema = z.tuple([
  z.object({ counts_from: z.date(), until: z.date(), digest: z.string() }),
])

/** Plays "it was not me": reads what the page would list and ends exactly that. */
export async function undo(story: Story, step: StepOf<'undo'>): Promise<void> {
  const session = sessionAt(story, step.session)
  if (!session) return
  const book = bookOf(story)
  const asked = story.stage.now - step.ago
  const rows = await perform(story, listMade(story, session, asked))
  if (!rows) return
  const [{ counts_from: since, until, digest }] = listSchema.parse(rows)
  const from = since.getTime() / 1000
  const given = undoingSince(book, session.id, asked)
  if (given === undefined || from < given) {
    throw new Error(`given by nobody: to end what is older than ${String(given)}: ${String(from)}`)
  }
  const password = newDigest()
  const putBack = step.putBack ? [...removedPasskeys(book).keys()] : []
  const args = {
    credential: session.credential,
    since,
    until,
    digest,
    session_digest: newDigest(),
    put_back: putBack,
    password_hash: password,
  }
  const answer = await ask(story, 'owner_end_made', args)
  if (!Array.isArray(answer) || answer[0]?.['outcome'] !== 'ended') return
  renamed(session, args)
  story.cast.passwords.push(password)
  story.done.set('undo', (story.done.get('undo') ?? 0) + 1)
  enter(story, { do: 'undo', session: session.id, since: from, password, putBack })
  await noteReleased(story)
}
