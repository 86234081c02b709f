/** The scopes that list a tool are those with which the database admits its call. */
import { expect, test } from 'vitest'
import { coversAccess, scopes } from '../../shared/contract/scopes.ts'
import { start } from '../support/world.ts'

const { db } = await start()
const accesses = ['any', 'read', 'vault', 'pay', 'full'] as const

test.each(scopes.flatMap((scope) => accesses.map((access) => [scope, access] as const)))(
  '%s covers %s on both sides or on neither',
  async (scope, access) => {
    const [row] = await db.sql<{ covers: boolean }[]>`
      select private.scope_covers(${[scope]}, ${access}) as covers`

    expect(coversAccess([scope], access)).toBe(row?.covers)
  },
)
