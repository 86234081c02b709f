/** Once the owner's act is answered, nothing more is signed for the caller that it ended. */
import { beforeAll, expect, test } from 'vitest'
import { connectApp } from '../support/apps.ts'
import { keyWith } from '../support/capped.ts'
import { acquainted } from '../support/ledger.ts'
import { ownerOf } from '../support/owner.ts'
import { authorizing } from '../support/signed.ts'
import { type Agent, start, type TestWorld } from '../support/world.ts'

let world: TestWorld
beforeAll(async () => {
  world = await start({ chain: true })
})

async function keyOf(payer: Agent) {
  const { key, holder } = await keyWith(world, payer)
  return { payer: { ...payer, key }, holder }
}

async function appOf(payer: Agent) {
  const { token, app } = await connectApp(world, payer, { scope: 'pay' })
  return { payer: { ...payer, key: token }, holder: app }
}

test.each([
  ['an app', appOf, 'owner_disconnect_apps'],
  ['a key', keyOf, 'owner_revoke_key'],
] as const)(
  '%s that is ended while its payment waits to be signed moves nothing',
  async (_, of, deed) => {
    const { payer: account, payee } = await acquainted(world)
    const { payer, holder } = await of(account)
    const owner = await ownerOf(world, account)
    const request = await authorizing(world, payer, payee.address)
    const { sql } = world.db
    let late: Promise<unknown> = Promise.resolve()

    await sql.begin(async (session) => {
      await session`select api.${session(deed)}(${owner.credential}, ${holder})`
      late = Promise.resolve(world.world.custody?.authorize(request))
      // The caller is admitted, and waits for the account that the owner's act has locked.
      const waits = () => sql`select from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`
      await expect.poll(async () => (await waits()).length).toBe(1)
    })

    expect(await late).toEqual({ outcome: 'refused', code: 'unauthorized' })
  },
)
