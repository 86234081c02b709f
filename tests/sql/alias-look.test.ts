import fc from 'fast-check'
import { expect, test } from 'vitest'
import { aliasLook } from '../../shared/onboarding/alias.ts'
import { start } from '../support/world.ts'

const world = await start()
const alias = fc.string({ unit: fc.constantFrom(...'abilmnorvw01-'.split('')), maxLength: 32 })

test('SQL and TypeScript see the same look in every alias', async () => {
  const samples = fc.sample(alias, 3_000)

  const rows = await world.db.sql`select private.alias_look(a) as look
    from unnest(${samples}::text[]) with ordinality as t (a, place) order by place`

  expect(rows.map(({ look }) => String(look))).toEqual(samples.map(aliasLook))
})

test.each([
  ['modern', 'modem'],
  ['bob', 'b0b'],
  ['paul', 'pau1'],
  ['paul', 'paui'],
  ['willow', 'vvillovv'],
  ['my-agent', 'myagent'],
])('%s and %s are not both accounts', async (one, other) => {
  await world.db.sql`delete from private.wallets`
  await world.db.sql`delete from private.accounts`
  await world.db.sql`insert into private.accounts (alias) values (${one})`
  await expect(
    world.db.sql`insert into private.accounts (alias) values (${other})`,
  ).rejects.toThrow('accounts_alias_look')
})
