/**
 * Every action that anyone in a history could try at a moment: each past or present holder of a credential,
 * and a stranger, against everything the account has or had.
 */

import { randomUUID } from '../seed.ts'
import {
  addPasskey,
  endOthers,
  endSession,
  listMade,
  losePasskeys,
  makeCodes,
  proveByPasskey,
  proveByPassword,
  removePasskey,
  setPassword,
} from './access-questions.ts'
import type { Level } from './acts.ts'
import {
  admit,
  askMandate,
  authorize,
  begin,
  freeze,
  readCode,
  readSecret,
  useSecret,
} from './agent-questions.ts'
import { isFrozen } from './agents.ts'
import type { Question } from './asking.ts'
import { approve, approveSeveral, decideMandate, suspend } from './decision-questions.ts'
import { hasRow, holds, says } from './questions.ts'
import type { Shown } from './rows.ts'
import { noTicks } from './rows.ts'
import type { Agent, Session, Story } from './stage.ts'
import { bookOf, devices, payees } from './stage.ts'
import { mayWiden } from './standing.ts'
import { signIn } from './way-questions.ts'
import {
  addRecipient,
  disconnect,
  letIn,
  makeKey,
  permit,
  revokeKey,
  rotateKey,
  setLimit,
  unfreeze,
} from './widening-questions.ts'

/** Number of newest items that are asked about; older ones ended long before. */
const latest = 4

export async function everyQuestion(story: Story, shown: Shown): Promise<Question[]> {
  const { cast, stranger } = story
  const sessions = cast.sessions.slice(-latest)
  const asked = await Promise.all(sessions.map((session) => ofSession(story, shown, session)))
  const theirs = await ofSession(story, shown, stranger.session)
  return [
    ...asked.flat(),
    ...theirs.filter(isAboutThisAccount).map(toNobody),
    ...cast.agents.flatMap((agent) => ofAgent(story, shown, agent)),
    ...cast.agents.flatMap((agent) => payings(story, shown, agent)),
    ...payings(story, shown, stranger.agent).map(toNobody),
    ...waysIn(story),
  ]
}

/** True if a question concerns this account. A stranger's rights in its own account do not matter here. */
const isAboutThisAccount = ({ args, name }: Question) =>
  name !== 'owner_add_passkey' &&
  ['payment', 'payments', 'mandate', 'entry', 'mail', 'session', 'key', 'app', 'passkey'].some(
    (name) => args[name] !== undefined,
  )

const toNobody = (question: Question): Question => ({ ...question, isGiven: () => false })

function waysIn(story: Story): Question[] {
  const { passwords, codes, passkeys } = story.cast
  return [
    ...passwords.map((by) => signIn(story, 'password', by)),
    ...codes.map((by) => signIn(story, 'recovery_code', by)),
    ...passkeys.map(({ id }) => signIn(story, 'passkey', id)),
  ]
}

async function ofSession(story: Story, shown: Shown, session: Session): Promise<Question[]> {
  const { agents, sessions, passkeys, passwords } = story.cast
  const lately = agents.slice(-latest)
  const decisions = await decisionsIn(story, shown, session)
  return [
    ...decisions,
    ...passwords.slice(-2).map((password) => proveByPassword(story, session, password)),
    ...passkeys.map((passkey) => proveByPasskey(story, session, passkey)),
    ...passkeys.map(({ id }) => removePasskey(story, session, id)),
    ...sessions.slice(-2).map((ended) => endSession(story, session, ended)),
    endOthers(story, session),
    setPassword(story, session),
    makeCodes(story, session),
    addPasskey(story, session),
    losePasskeys(story, session),
    makeKey(story, session, 'full'),
    letIn(story, session, 'read'),
    ...lately.flatMap((agent) => [
      rotateKey(story, session, agent),
      revokeKey(story, session, agent),
      disconnect(story, session, agent),
      permit(story, session, 'reads_secrets', agent),
    ]),
    permit(story, session, 'shows_codes', { ...story.stranger.agent }),
    ...payees.map((payee) => addRecipient(story, session, payee)),
    unfreeze(story, session),
    setLimit(story, session),
    listMade(story, session, story.stage.now - 3_600),
    listMade(story, session, 0),
    ...secretsIn(story, shown, session),
  ]
}

/** Returns the questions about secrets, codes and entries, which need a session that may widen. */
function secretsIn(story: Story, shown: Shown, session: Session): Question[] {
  const book = bookOf(story)
  const { credential, id } = session
  const about = { credential, entry: shown.entry }
  const isFresh = () => mayWiden(book, id)
  const isFreshAndFree = () => isFresh() && !isFrozen(book)
  const given = (kind: string, name: string, args: Question['args']): Question => {
    return { kind, words: id, name, args, isDone: hasRow, isGiven: isFreshAndFree }
  }
  const never = (kind: string, name: string, args: Question['args']): Question => {
    return { ...given(kind, name, args), isGiven: () => false }
  }
  return [
    {
      ...given('see a secret', 'vault_read_entry', about),
      isDone: holds('opened'),
      isGiven: isFresh,
    },
    {
      ...given('see a code', 'read_mail', { credential, mail: shown.mail }),
      isDone: ([row]) => JSON.stringify(row?.['reader'] ?? null).includes('"sees":"all"'),
      isGiven: isFresh,
    },
    {
      ...given('delete a mail', 'owner_delete_mails', { credential, mail: shown.mail }),
      isDone: says('deleted', 1),
      isGiven: isFresh,
    },
    given('change an entry', 'vault_begin_store', about),
    given('delete an entry', 'delete_vault_entry', about),
    {
      ...given('let codes be used', 'owner_set_takes_codes', { ...about, takes: true }),
      isGiven: isFresh,
    },
    never('use a secret in a session', 'vault_open_use', { ...about, handles: [] }),
    never('take a code of the moment in a session', 'vault_open_totp', about),
    never('use an API in a session', 'check_admission', { credential, needed: 'pay' }),
  ]
}

async function decisionsIn(story: Story, shown: Shown, session: Session): Promise<Question[]> {
  const { payments, mandates, passkeys } = story.cast
  const questions: Promise<Question>[] = []
  const recent = payments.slice(-latest)
  const allTicks = { anyKey: true, payee: true, device: true }
  for (const signing of [null, ...passkeys]) {
    for (const payment of recent) {
      for (const ticks of [noTicks, allTicks]) {
        questions.push(approve(story, shown, session, { payment, ticks, signing }))
      }
    }
    questions.push(
      approveSeveral(story, shown, session, { payments: recent.slice(-2), signing }),
      ...mandates.slice(-latest).map((mandate) => {
        const given = { mandate, decision: 'approved' as const, anyKey: true, signing }
        return decideMandate(story, shown, session, given)
      }),
    )
  }
  const resumed = mandates.map((mandate) => suspend(story, session, { mandate, suspended: false }))
  return [...(await Promise.all(questions)), ...resumed]
}

function ofAgent(story: Story, shown: Shown, agent: Agent): Question[] {
  const order = { kind: 'transfer' as const, device: devices[0], payee: payees[3], micros: 1 }
  return [
    ...(['any', 'read', 'vault', 'pay', 'full', 'owner'] as const).map((scope) =>
      admit(story, agent, scope),
    ),
    freeze(story, agent),
    begin(story, agent, order),
    askMandate(story, agent, { id: randomUUID(), device: devices[0], payTo: null }),
    useSecret(story, agent, shown.entry),
    readSecret(story, agent, shown.entry),
    readCode(story, agent, shown.mail),
  ]
}

const levels: readonly Level[] = ['none', 'agent_asserted', 'user_session', 'user_passkey']

function payings(story: Story, shown: Shown, agent: Agent): Question[] {
  const { payments, mandates } = story.cast
  // Custody continues with a payment that it has signed, whichever agent asks.
  const isPaid = (id: string) => story.acts.some((act) => act.do === 'pay' && act.payment === id)
  const unpaid = payments.slice(-2 * latest).filter((payment) => !isPaid(payment))
  return unpaid.flatMap((payment) => [
    ...levels.map((level) => authorize(story, shown, agent, { payment, level, mandate: null })),
    ...mandates
      .slice(-latest)
      .map((mandate) => authorize(story, shown, agent, { payment, level: 'mandate', mandate })),
  ])
}
