/** Without PostgREST, the functions of the database answer and refuse as they do through it. */
import { expect, test } from 'vitest'
import { openQuery } from '../../scripts/serve/query.ts'
import { credentialOf } from '../../shared/auth/api-key.ts'
import { Rejection } from '../../shared/contract/errors.ts'
import type { Database } from '../../shared/db/database.ts'
import { openDirectDatabase } from '../../shared/db/direct/direct.ts'
import { atEnd } from '../support/ending.ts'
import { pepper, start } from '../support/world.ts'

const world = await start()
const role = 'service_role'
const { query, close } = openQuery({ databaseUrl: world.db.url, role, connections: 2 })
atEnd(close)
const direct = openDirectDatabase(query)
const both: readonly Database[] = [world.world.db, direct]

async function credential(scope: 'read' | 'pay'): Promise<string> {
  return credentialOf((await world.agent(scope)).key, pepper)
}

/** Returns the answer, or the refusal as a value. */
function outcomeOf(answer: Promise<unknown>): Promise<unknown> {
  return answer.catch((error: unknown) => {
    if (error instanceof Rejection) return { refused: error.refusal }
    throw error
  })
}

test.each([
  ['one row', 'get_identity', {}],
  ['no rows', 'list_mandates', { page: 10, mandate: '00000000-0000-4000-8000-000000000000' }],
  ['a refusal with details', 'identify_caller', { needed: 'pay', counted: false }],
  ['a malformed argument', 'list_mandates', { page: 10, mandate: 'no uuid' }],
] as const)('%s', async (_, name, args) => {
  const caller = await credential('read')
  const answers = await Promise.all(
    both.map((one) =>
      outcomeOf(one.call(name as never, { credential: caller, ...args })).catch(String),
    ),
  )

  expect(answers[1]).toEqual(answers[0])
  expect(answers[1]).toBeDefined()
})

test('a role reaches the functions that are granted to it, and no table', async () => {
  const custody = { databaseUrl: world.db.url, role: 'custody', connections: 1 }
  const opened = openQuery(custody)
  atEnd(opened.close)
  const asked = openDirectDatabase(opened.query).call('get_identity', { credential: 'none' })

  await expect(asked).rejects.toThrow('42501')
  await expect(query('select from private.accounts', [])).rejects.toThrow('permission denied')
})

test('a database that does not answer is unavailable, and is found again', async () => {
  const gone = openQuery({ databaseUrl: 'postgres://127.0.0.1:1/none', role, connections: 1 })
  atEnd(gone.close)
  const asked = outcomeOf(openDirectDatabase(gone.query).call('get_identity', {}))

  expect(await asked).toMatchObject({ refused: { refusal: 'unavailable', retryAfterSeconds: 5 } })
})
