/** Whoever holds less than a fresh proof keeps the owner from nothing, and what was removed proves nothing. */
import { beforeEach, expect, test } from 'vitest'
import { addPasskey, openPerson, type Person, signInAs } from '../support/person.ts'
import { byCode, byPasskey, isIn, makeCodes, mayWiden, post } from '../support/ways-in.ts'
import { start } from '../support/world.ts'

const world = await start()
const { sql } = world.db
const renewed = 'another long sentence of mine'
let person: Person
beforeEach(async () => {
  person = await openPerson(world)
})

test('wrong passwords of a stolen session do not keep the owner from securing the account', async () => {
  const thief = await signInAs(world, person)
  await world.tick(1_200)
  for (let count = 0; count < 11; count += 1) {
    await post(thief, '/web/proof', { password: `a wrong password ${count}` })
  }
  const owner = await signInAs(world, person)
  await owner.visit('/web/secure')

  const done = await owner.submit({ password: renewed }, '/web/secure')

  expect([done.status, done.path]).toEqual([200, '/web/secure/done'])
})

test('new passwords that somebody tries to set without a proof do not keep the owner from it either', async () => {
  const passkey = await addPasskey(await signInAs(world, person))
  const thief = await signInAs(world, person)
  for (let count = 0; count < 11; count += 1) {
    await post(thief, '/web/security/password', { password: `some long sentence ${count}` })
  }
  const owner = await byPasskey(world, passkey)
  await owner.visit('/web/secure')

  const done = await owner.submit({ password: renewed }, '/web/secure')

  expect([done.status, done.path]).toEqual([200, '/web/secure/done'])
})

test.each(['/web/security/password', '/web/secure'])(
  'a session without a proof does not learn at %s if a password is the present one',
  async (path) => {
    const passkey = await addPasskey(await signInAs(world, person))
    const stolen = await byPasskey(world, passkey)
    await world.tick(1_200)

    const answers = [
      await post(stolen, path, { password: 'of somebody else, long' }),
      await post(stolen, path, { password: person.password }),
    ]

    const [wrong, right] = answers.map(({ status, headers }) => [status, headers.get('location')])
    expect(right).toEqual(wrong)
  },
)

test('a session that was proven with a passkey widens nothing once that passkey is removed', async () => {
  const stolen = await addPasskey(await signInAs(world, person))
  const mine = await addPasskey(await byPasskey(world, stolen))
  const owner = await byPasskey(world, mine)
  const thief = await byPasskey(world, stolen)
  await owner.visit('/web/security/passkeys')
  await post(owner, '/web/security/passkeys', { deed: 'remove', passkey: stolen.id })

  const widens = await mayWiden(thief)
  await post(thief, '/web/secure', { password: renewed })

  expect(widens).toBe(false)
  expect([await isIn(owner), await isIn(await byPasskey(world, mine))]).toEqual([true, true])
})

test('the end of a hold voids all codes, by a clock that goes on within each statement', async () => {
  const codes = await makeCodes(await signInAs(world, person))
  const [gap] = await sql`select (private.clock() - pg_catalog.clock_timestamp())::text as ahead`
  // The clock of production (000001_foundation), moved to the time of the test.
  await sql.unsafe(`create or replace function private.clock() returns timestamptz language sql stable
    as $$ select pg_catalog.clock_timestamp() + interval '${gap?.['ahead']}' $$`)
  await byCode(world, person, codes[0])
  const owner = await signInAs(world, person)
  await owner.visit('/web/hold')

  await owner.submit({}, '/web/hold')

  const left = await sql`select from private.recovery_codes where account = ${person.agent.id}`
  expect(left).toHaveLength(0)
  expect(await isIn(await byCode(world, person, codes[1]))).toBe(false)
})

test('what ended stays on the list when the account is secured once more', async () => {
  const owner = await signInAs(world, person)
  const payee = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
  const path = `/web/recipients/add/${payee}`
  await owner.visit(path)
  await owner.submit({ address: payee }, path)
  for (const password of [renewed, `${renewed} again`]) {
    await owner.visit('/web/secure')
    await owner.submit({ password }, '/web/secure')
  }

  expect((await owner.visit('/web/secure/done')).text).toContain(payee)
})
