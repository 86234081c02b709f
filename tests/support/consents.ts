/** An owner who consents with a passkey; the assertions take the same way as those of the pages. */
import * as z from 'zod'
import { credentialOf } from '../../shared/auth/api-key.ts'
import { consentByPasskey } from '../../shared/auth/owner-passkeys.ts'
import { consentOptions } from '../../shared/auth/passkey.ts'
import { batchTerms } from '../../shared/consent/consent.ts'
import { paymentTerms, termsDigest } from '../../shared/consent/terms.ts'
import type { AuthorizeRequest } from '../../shared/custody/port.ts'
import { bindCredential } from '../../shared/db/database.ts'
import { type Authenticator, openAuthenticator } from './authenticator.ts'
import { askMandate, type MandateOrder } from './mandates.ts'
import { digestTicked, ownerOf, paymentOf, type TestOwner, type Tick } from './owner.ts'
import type { PasskeyAlgorithm } from './passkey-key.ts'
import { randomUUID } from './seed.ts'
import { inTenMinutes } from './signed.ts'
import { type Agent, pepper, type TestWorld } from './world.ts'

type Fault = Parameters<Authenticator['get']>[1]
type Tests = Pick<TestWorld, 'world' | 'db'>

export type PasskeyOwner = TestOwner & {
  passkey: Authenticator
  /** Returns the argument `assertion` over a digest, verified as the pages verify it. */
  assertion(digest: string, fault?: Fault): ReturnType<typeof consentByPasskey>
  /** Returns the argument without verification, as a compromised page would send it. */
  unverified(digest: string, fault?: Fault): Promise<object>
  approve(payment: string, assertion?: object, ...ticks: Tick[]): Promise<unknown>
  approveBatch(payments: readonly string[]): Promise<unknown>
  /** Requests a mandate as the agent, approves it, and returns its id. */
  grant(agent: Agent, order?: MandateOrder): Promise<string>
}

/** Signs the owner in with one passkey, long after the last proof. */
export async function passkeyOwnerOf(
  tests: Tests,
  agent: Pick<Agent, 'id'>,
  algorithm?: PasskeyAlgorithm,
): Promise<PasskeyOwner> {
  const { world, db } = tests
  const owner = await ownerOf(tests, agent, 60)
  const passkey = openAuthenticator(algorithm)
  await db.sql`insert into private.passkeys (id, account, public_key, counter, transports, label, created_at)
    values (${passkey.id}, ${agent.id}, ${passkey.key.cose.toString('base64url')}, 0, '{}', 'Key',
      private.clock() - interval '1 day')`
  const session = { world, db: bindCredential(world.db, owner.credential), account: agent }
  const assertion: PasskeyOwner['assertion'] = (digest, fault) =>
    consentByPasskey(session, passkey.get(consentOptions(world, digest, []), fault), digest)
  const digestFor = async (payment: string) =>
    termsDigest(paymentTerms(await paymentOf(db, payment)))
  return {
    ...owner,
    passkey,
    assertion,
    unverified: (digest, fault) => unverified(tests, passkey, digest, fault),
    async approve(payment, given, ...ticks) {
      const digest = await digestTicked(db, payment, ticks)
      const ticked = Object.fromEntries(ticks.map((name) => [name, true]))
      const question = { payment, decision: 'approved', digest, ...ticked }
      const signed = given ?? (await assertion(digest))
      return outcomeOf(await owner.call('owner_decide_payment', { ...question, assertion: signed }))
    },
    async approveBatch(payments) {
      const digests = await Promise.all(payments.map(digestFor))
      const digest = await termsDigest(await batchTerms(agent.id, digests))
      const rows = await db.sql<{ asker: string }[]>`
        select private.asker_of(p) as asker from unnest(${payments}::uuid[]) with ordinality g (id, n)
        join private.payments p on p.id = g.id order by g.n`
      const question = { payments, askers: rows.map(({ asker }) => asker), digest }
      const signed = await assertion(digest)
      return outcomeOf(await owner.call('owner_approve_batch', { ...question, assertion: signed }))
    },
    async grant(asking, order) {
      const { id: mandate, digest } = await askMandate(tests, asking, order)
      const question = { mandate, decision: 'approved', digest }
      const signed = await assertion(digest)
      const answer = await owner.call('owner_decide_mandate', { ...question, assertion: signed })
      if (outcomeOf(answer) !== 'approved') throw new Error(JSON.stringify(answer))
      return mandate
    },
  }
}

/** Asset that the payments of these tests move: 5 USDC to one payee. */
export const asset = {
  chain: 84532,
  token: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
  payee: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
}
const terms = { origin: 'https://shop.example', request_digest: 'aa'.repeat(32) }

/** Creates an x402 payment that waits for its owner, and returns its id. */
export async function waitingPayment({ world, db }: Tests, payer: Agent): Promise<string> {
  const credential = await credentialOf(payer.key, pepper)
  const [row] = await db.sql<{ id: string }[]>`
    select payment_row ->> 'id' as id from api.begin_payment(${credential}, 'x402', 'device',
      ${asset.chain}, ${asset.token}, '5000000', '5000000',
      ${JSON.stringify(terms)}::text::jsonb, 600, ${asset.payee},
      claim => ${randomUUID()}, keyed => true)`
  const payment = z.uuid().parse(row?.id)
  await world.db.call('await_confirmation', { credential, payment, asked_level: 'user_session' })
  return payment
}

/** Returns the request that asks custody to sign a payment, at a level that only the ledger checks. */
export async function authorizeRequest(
  tests: Tests,
  payer: Agent,
  paymentId: string,
  consentLevel: AuthorizeRequest['consentLevel'],
  mandateId?: string,
): Promise<AuthorizeRequest> {
  const [entered] = await tests.db.sql<{ version: number }[]>`
    select a.facts_version as version from private.accounts a, private.payments p
     where a.id = ${payer.id} and p.id = ${paymentId}`
  return {
    credential: await credentialOf(payer.key, pepper),
    paymentId,
    consentLevel,
    ...(mandateId === undefined ? {} : { mandateId }),
    factsVersion: entered?.version ?? 0,
    fundsAtomic: '1000000000',
    seenBlock: 1,
    validAfter: 0,
    validBefore: inTenMinutes(tests),
  }
}

function outcomeOf(answer: Awaited<ReturnType<TestOwner['call']>>): unknown {
  return Array.isArray(answer) ? answer[0]?.['outcome'] : answer
}

const answered = z.object({
  response: z.object({
    clientDataJSON: z.string(),
    authenticatorData: z.string(),
    signature: z.string(),
  }),
})

async function unverified(
  { world, db }: Tests,
  passkey: Authenticator,
  digest: string,
  fault: Fault,
) {
  const [row] = await db.sql<{ counter: string }[]>`
    select counter::text from private.passkeys where id = ${passkey.id}`
  const answer = passkey.get(consentOptions(world, digest, []), fault)
  const { response } = answered.parse(JSON.parse(answer))
  return {
    passkey: passkey.id,
    counter_seen: row?.counter,
    counter_now: row?.counter,
    client_data: response.clientDataJSON,
    authenticator_data: response.authenticatorData,
    signature: response.signature,
  }
}
