/**
 * The sums behind the limits read only rows that count, and the page of an agent its latest payments, not the
 * history of an account. The cost is the number of 8 kB pages by EXPLAIN ANALYZE, including those that called
 * functions read.
 */
import { beforeAll, expect, test } from 'vitest'
import * as z from 'zod'
import { credentialOf } from '../../shared/auth/api-key.ts'
import { ownerOf } from '../support/owner.ts'
import { fingerprint, pepper, start, type TestWorld } from '../support/world.ts'

const payments = 20_000
const counted = 10
/**
 * Maximum of pages: a few levels of an index, the rows that count, and the sequences of the tests' clock.
 * The history has hundreds.
 */
const pagesMax = 80

let world: TestWorld
let holder: { id: string; account: string }
let idle: string

beforeAll(async () => {
  world = await start()
  const agent = await world.agent('pay')
  const { sql } = world.db
  const digest = await credentialOf(agent.key, pepper)
  const [key] = await sql<{ id: string; account: string }[]>`
    select id, account from private.credentials where digest = ${digest}`
  holder = key ?? { id: '', account: '' }
  await sql`
    insert into private.payments (account, key, device, kind, state, chain, token, wallet, payee,
      amount_atomic, amount_usd_micros, expires_at, consent_level, authorized_at, valid_after,
      valid_before, tx_hash, block_hash, finality, settled_at)
    select k.account, k.id, ${fingerprint}, 'transfer',
      case when n % ${payments / counted} = 0 then 'signed' else 'settled' end, 84532, w.address,
      w.address, w.address, 1000, 1000, at, 'none', at, 0, 0, hash, hash,
      case when n % ${payments / counted} = 0 then 'included' else 'finalized' end, at
    from private.credentials k join private.wallets w on w.account = k.account,
      generate_series(1, ${payments}::integer) n,
      lateral (select private.clock() - interval '2 days' - n * interval '5 minutes' as at,
        '0x' || encode(sha256(n::text::bytea), 'hex') as hash) of_payment
    where k.id = ${holder.id}`
  await agent.withKey('pay')
  const [other] = await sql<{ id: string }[]>`update private.credentials set label = 'Idle'
    where account = ${holder.account} and kind = 'api_key' and id <> ${holder.id} returning id`
  idle = other?.id ?? ''
  await sql`vacuum analyze private.payments`
})

const planRow = z.tuple([
  z.object({
    'QUERY PLAN': z.tuple([
      z.object({
        Plan: z.object({ 'Shared Hit Blocks': z.int(), 'Shared Read Blocks': z.int() }),
      }),
    ]),
  }),
])

async function pagesOf(query: string): Promise<number> {
  const run = () => world.db.sql.unsafe(`explain (analyze, buffers, format json) ${query}`)
  // The first calls in a session also read the catalog, to plan what later ones only execute.
  for (let early = 0; early < 8; early += 1) await run()
  const [row] = planRow.parse([...(await run())])
  const { Plan: plan } = row['QUERY PLAN'][0]
  return plan['Shared Hit Blocks'] + plan['Shared Read Blocks']
}

test.each([
  ['of an account', () => `private.spent('${holder.account}')`],
  ['of a budget', () => `private.used_of_budget('${holder.id}')`],
  ['that tells when it fits', () => `private.fits_at('${holder.account}', 1, 1, 'none')`],
])('the sum %s reads no page of what left the windows', async (_, sum) => {
  expect(await pagesOf(`select ${sum()}`)).toBeLessThan(pagesMax)
})

test('what is open of an old history is counted', async () => {
  const [spent] = await world.db.sql`select (private.spent(${holder.account})).total`

  expect(spent).toEqual({ total: String(counted * 1000) })
})

test.each([
  ['paid them all', () => holder.id],
  ['paid none of them', () => idle],
])('the latest payments of an agent that %s are found without the others', async (_, agent) => {
  const { credential } = await ownerOf(world, { id: holder.account })
  const filter = JSON.stringify({ agent: agent() })

  const pages = await pagesOf(
    `select * from api.owner_list_activity('${credential}', 5, '${filter}')`,
  )

  // Each of the five is shown with what belongs to it.
  expect(pages).toBeLessThan(2 * pagesMax)
})
