/** One approval of several payments holds only for exactly that list, also for input that no page sends. */
import { beforeAll, expect, test } from 'vitest'
import { batchTerms } from '../../shared/consent/consent.ts'
import { paymentTerms, termsDigest } from '../../shared/consent/terms.ts'
import { type PasskeyOwner, passkeyOwnerOf, waitingPayment } from '../support/consents.ts'
import { paymentOf } from '../support/owner.ts'
import { type Agent, start, type TestWorld } from '../support/world.ts'

let world: TestWorld
let agent: Agent
let owner: PasskeyOwner
beforeAll(async () => {
  world = await start()
  agent = await world.agent('pay')
  owner = await passkeyOwnerOf(world, agent)
})

/** Returns two waiting payments and the credential that requested them. */
async function two() {
  const ids = [await waitingPayment(world, agent), await waitingPayment(world, agent)] as const
  const [row] = await world.db.sql<{ asker: string }[]>`
    select private.asker_of(p) as asker from private.payments p where p.id = ${ids[0]}`
  return { ids, asker: row?.asker ?? '' }
}

/** Approves a list with a valid assertion over exactly that list. */
async function approve(payments: readonly (string | null)[], askers: readonly string[]) {
  const known = payments.filter((id) => id !== null)
  const digests = known.map(async (id) => termsDigest(paymentTerms(await paymentOf(world.db, id))))
  const digest = await termsDigest(await batchTerms(agent.id, await Promise.all(digests)))
  const assertion = await owner.assertion(digest)
  return owner.call('owner_approve_batch', { payments, askers, digest, assertion })
}

test('a payment that stands twice in a list is no list of two', async () => {
  const { ids, asker } = await two()

  const outcome = await approve([ids[0], ids[0]], [asker, asker])

  expect(outcome).toEqual([{ outcome: 'out_of_bounds' }])
})

test.each([
  ['nobody', () => []],
  ['nobody for one of them', (asker: string) => [asker]],
  ['somebody else', (asker: string) => [asker, 'ab'.repeat(32)]],
])('a list that says that %s asked is not what was shown', async (_, askers) => {
  const { ids, asker } = await two()

  expect(await approve(ids, askers(asker))).toEqual([{ outcome: 'asker_changed' }])
})

test('a list with a gap, or with a stranger’s payment, is approved in no part', async () => {
  const { ids, asker } = await two()
  const stranger = await waitingPayment(world, await world.agent('pay'))

  const outcomes = [
    await approve([...ids, null], [asker, asker, asker]),
    await approve([...ids, stranger], [asker, asker, asker]),
  ]

  expect(outcomes).toEqual([[{ outcome: 'out_of_bounds' }], [{ outcome: 'not_found' }]])
  expect(await approve(ids, [asker, asker])).toEqual([{ outcome: 'approved' }])
})
