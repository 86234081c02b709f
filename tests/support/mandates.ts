/** Mandates that an agent requests and an owner approves, in the database. */
import * as z from 'zod'
import { credentialOf } from '../../shared/auth/api-key.ts'
import { mandateTermsRow } from '../../shared/consent/mandate-row.ts'
import { mandateTerms, termsDigest } from '../../shared/consent/terms.ts'
import { ownerOf, type TestOwner } from './owner.ts'
import { randomUUID } from './seed.ts'
import { type Agent, fingerprint, pepper, type TestWorld } from './world.ts'

/** Default request: any shop of these tests, for a day. */
const usual = {
  merchant_domain: '127.0.0.1',
  include_subdomains: false,
  max_payment_usd_micros: '5000000',
  ttl_seconds: 86_400,
}

export type MandateOrder = Partial<typeof usual> & {
  max_day_usd_micros?: string
  max_total_usd_micros?: string
  max_payments?: number
  chains?: number[]
  tokens?: string[]
  pay_to?: string[]
}

const askedRow = z.tuple([
  z.object({ mandate_row: z.object({ id: z.uuid() }), digest: z.string() }),
])

export type AskedMandate = { id: string; digest: string }
export type GivenMandate = AskedMandate & { owner: TestOwner }

/** Requests a mandate that waits for its owner. */
export async function askMandate(
  { world }: Pick<TestWorld, 'world'>,
  agent: Agent,
  order: MandateOrder = {},
): Promise<AskedMandate> {
  const credential = await credentialOf(agent.key, pepper)
  const question = { credential, new_id: randomUUID(), device: fingerprint, ...usual, ...order }
  const [{ mandate_row: mandate, digest }] = askedRow.parse(
    await world.db.call('create_mandate', question),
  )
  return { id: mandate.id, digest }
}

/** Creates a mandate that its owner has approved. */
export async function giveMandate(
  tests: Pick<TestWorld, 'world' | 'db'>,
  agent: Agent,
  order: MandateOrder = {},
  anyKey = false,
): Promise<GivenMandate> {
  const asked = await askMandate(tests, agent, order)
  const owner = await ownerOf(tests, agent)
  const digest = anyKey ? await digestForAny(tests, asked.id) : asked.digest
  const decision = { mandate: asked.id, decision: 'approved', digest, any_key: anyKey }
  const answer = await owner.call('owner_decide_mandate', decision)
  if (!Array.isArray(answer) || answer[0]?.['outcome'] !== 'approved') {
    throw new Error(`not approved: ${JSON.stringify(answer)}`)
  }
  return { ...asked, owner }
}

/** Returns the digest of its terms with the tick that lets any key pay under it. */
async function digestForAny({ db }: Pick<TestWorld, 'db'>, id: string): Promise<string> {
  const [row] = await db.sql`
    select private.mandate_json(m) as mandate from private.mandates m where id = ${id}`
  const mandate = mandateTermsRow.parse(row?.['mandate'])
  return termsDigest(mandateTerms({ ...mandate, for_any_key: true }))
}

const reasonsOf = z.object({
  reasons: z.array(
    z.looseObject({
      code: z.string(),
      mandate_id: z.string().optional(),
      resets_at: z.string().nullish(),
    }),
  ),
})

/** Returns the rules of one mandate that an answer reports as not met. */
export function failedRules(body: unknown, mandate: string) {
  const { reasons } = reasonsOf.parse(body)
  return reasons.filter(({ mandate_id }) => mandate_id === mandate)
}
