/** Permits of one account, however many ended unused, delay nothing that is judged of another. */
import { expect, test } from 'vitest'
import { hex, newKey, transfer } from '../../support/chain-world.ts'
import { sendAs } from '../../support/deposits.ts'
import { besideLiar } from '../../support/faults/beside-liar.ts'
import { node } from '../../support/faults/chain.ts'
import { allowPermit2, bookedOf, signedPermit } from '../../support/faults/permits.ts'
import { minutes } from '../../support/faults/two.ts'
import { alarmsOf, isFrozen, owned } from '../../support/outflows.ts'
import { mineCalls } from '../../support/permit2-decoys.ts'
import { crowd, crowdAddresses } from '../../support/play/contracts.ts'
import type { TestWorld } from '../../support/world.ts'

const facilitator = hex(crowdAddresses[0])

/** Enters so many more payments like this one, each with a nonce of its own. */
async function multiply({ db }: TestWorld, id: string, count: number): Promise<void> {
  const [row] = await db.sql<{ names: string }[]>`
    select string_agg(quote_ident(column_name), ',') as names from information_schema.columns
     where table_schema = 'private' and table_name = 'payments' and is_generated = 'NEVER'
       and column_name not in ('id', 'authorization_nonce', 'claim', 'fixed_nonce')`
  const names = row?.names ?? ''
  await db.sql.unsafe(`insert into private.payments (id, authorization_nonce, ${names})
    select gen_random_uuid(), '0x' || md5(random()::text) || md5(random()::text), ${names}
      from private.payments p, generate_series(1, ${count}) where p.id = '${id}'`)
  await db.sql`analyze private.payments`
}

test('a theft is found beside 25,000 permits of another account that ended unused', async () => {
  const { world, agent } = await besideLiar({ statesMax: 10_000 })
  await allowPermit2(world, agent)
  await node(world, 'anvil_mine', '0x40')
  const { agent: victim } = await owned(world)
  const terms = { payee: newKey().at, facilitator, atomic: 10n }
  const unused = await signedPermit(world, agent, 'upto', {}, terms)
  await minutes(world, 15, 3)
  const ended = await bookedOf(world, unused.id)
  await multiply(world, unused.id, 25_000)
  // Two uses in one block, so that neither payment names its log and both are compared with all permits.
  const used = [
    await signedPermit(world, agent, 'upto', {}, { ...terms, takes: 5n }),
    await signedPermit(world, agent, 'upto', {}, { ...terms, takes: 5n }),
  ]
  const callData = crowd.run(used.map(({ step }) => step))
  await mineCalls(world.chain, [{ target: facilitator, callData }])
  await node(world, 'evm_mine')
  await sendAs(world, victim.address, transfer(newKey().at, 700_000_000n))

  await minutes(world, 36, 4)

  expect(ended).toMatchObject({ state: 'released' })
  expect(await isFrozen(world, victim)).toBe(true)
  expect(alarmsOf(world, victim)).toEqual(['unknown_outflow'])
  expect(await isFrozen(world, agent)).toBe(false)
})
