/** The owner of an account in the database, with a session of its own. */
import * as z from 'zod'
import { paymentTerms, termsDigest } from '../../shared/consent/terms.ts'
import { type Payment, paymentRow } from '../../shared/payments/payment.ts'
import { randomBytes } from './seed.ts'
import type { Agent, TestWorld } from './world.ts'

const rows = z.array(z.record(z.string(), z.unknown()))
type Row = z.output<typeof rows>[number]
type Name = Parameters<TestWorld['world']['db']['call']>[0]

export type TestOwner = {
  credential: string
  /** Calls an owner's function; a refusal is `{ refused }`. */
  call(name: Name, args?: object): Promise<Row[] | { refused: unknown }>
  /** Lifts the freeze that stands. */
  unfreeze(): ReturnType<TestOwner['call']>
  /** Approves or declines the current terms of a payment and returns the outcome. */
  decide(payment: string, decision: 'approved' | 'declined', ...ticks: Tick[]): Promise<unknown>
}

/** Signs the owner in; `provenMinutesAgo` is the age of the password proof. */
export async function ownerOf(
  { world, db }: Pick<TestWorld, 'world' | 'db'>,
  { id }: Pick<Agent, 'id'>,
  provenMinutesAgo = 0,
): Promise<TestOwner> {
  const credential = randomBytes(32).toString('hex')
  await db.sql`
    with opened as (
      insert into private.credentials (account, kind, digest, label, shown, scopes)
      values (${id}, 'session', ${credential}, 'Test', 'session', '{owner}') returning id
    )
    insert into private.sessions (credential, signed_in_with, ends_at, proven_at, user_agent, client)
    select id, 'password', 'infinity',
      private.clock() - make_interval(mins => ${provenMinutesAgo}), '', '' from opened`
  const call: TestOwner['call'] = async (name, args = {}) => {
    try {
      return rows.parse(await world.db.call(name, { credential, ...args }))
    } catch (error) {
      return { refused: error instanceof Error ? error.message : error }
    }
  }
  return {
    credential,
    call,
    async unfreeze() {
      const standing = await call('owner_read_freeze')
      const freeze = Array.isArray(standing) ? standing[0]?.['freeze'] : 0
      return call('owner_unfreeze', { freeze: freeze ?? 0 })
    },
    async decide(payment, decision, ...ticks) {
      const digest = await digestTicked(db, payment, ticks)
      const ticked = Object.fromEntries(ticks.map((name) => [name, true]))
      const question = { payment, decision, digest, ...ticked }
      const answer = await call('owner_decide_payment', question)
      return Array.isArray(answer) ? answer[0]?.['outcome'] : answer
    },
  }
}

/** Option that an owner may tick with an approval. */
export type Tick = 'any_key' | 'remember_payee' | 'remember_device' | 'pass_daily_cap'

/** Returns the digest of a payment's terms with these ticks; the row has it only after the approval. */
export async function digestTicked(
  db: TestWorld['db'],
  payment: string,
  ticks: readonly Tick[],
): Promise<string> {
  const row = await paymentOf(db, payment)
  const [{ device } = { device: '' }] = await db.sql<{ device: string }[]>`
    select device from private.payments where id = ${payment}`
  const ticked = {
    for_any_key: row.for_any_key || ticks.includes('any_key'),
    remembers_payee: row.remembers_payee || ticks.includes('remember_payee'),
    passes_daily_cap: row.passes_daily_cap || ticks.includes('pass_daily_cap'),
    remembered_device: ticks.includes('remember_device') ? device : row.remembered_device,
  }
  return termsDigest(paymentTerms({ ...row, ...ticked }))
}

/** Returns a payment as its row is now. */
export async function paymentOf({ sql }: TestWorld['db'], id: string): Promise<Payment> {
  const [row] = await sql`
    select private.payment_json(p) as payment from private.payments p where p.id = ${id}`
  return paymentRow.parse(row?.['payment'])
}

/** Returns the types of the account's feed, oldest first. */
export async function feedOf({ sql }: TestWorld['db'], { id }: Pick<Agent, 'id'>) {
  const items = await sql<{ type: string }[]>`
    select type from private.activities where account = ${id} order by id`
  return items.map(({ type }) => type)
}
