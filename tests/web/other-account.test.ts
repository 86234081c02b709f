/** A form for one account changes nothing when the owner of another account is signed in. */
import { expect, test } from 'vitest'
import { addresses, allForms, fullHome } from '../support/all-forms.ts'
import { ownForm, signedIn } from '../support/browserless.ts'
import { start } from '../support/world.ts'

const world = await start({ chain: true })
const { sql } = world.db
const session = '__Host-aoa_session'
const type = 'application/x-www-form-urlencoded'

/** Returns all that the database holds of an account, except the last use of its sessions and keys. */
async function everythingOf(account: string): Promise<string[]> {
  const tables = await sql<
    { name: string }[]
  >`select format('%I.%I', table_schema, table_name) as name
    from information_schema.columns where table_schema = 'private' and column_name = 'account'
     and table_name not in ('credentials')`
  const rows = await Promise.all(
    tables.map(
      ({ name }) => sql`select t::text from ${sql.unsafe(name)} t where t.account = ${account}`,
    ),
  )
  const standing = await sql`select id, label, scopes, revoked_at, reads_secrets
    from private.credentials where account = ${account}`
  return [...rows, standing].map((found) => JSON.stringify(found)).toSorted()
}

test('every form of every page changes nothing of the account that is signed in instead', async () => {
  const [first, second] = [await fullHome(world), await fullHome(world)]
  const shown = (await allForms(first.owner, first.ids)).filter(({ given }) => 'form' in given)
  // The same forms, with the ids of the other account in place of the first one's.
  const forms = shown.map(({ target, given }) => ({ target: theirs(target), given }))
  const theirPasskeys =
    await sql`select id from private.passkeys where account = ${second.agent.id}`
  first.owner.cookies.set(session, second.owner.cookies.get(session) ?? '')
  await sql`update private.credentials set burst = 100000, per_second = 1000
    where account = ${second.agent.id} and kind = 'session'`
  const before = [await everythingOf(first.agent.id), await everythingOf(second.agent.id)]

  const answers = new Set<string>()
  for (const { target, given } of forms) answers.add(await send(target, given))
  const none = { form: first.owner.cookies.get('__Host-aoa_form') ?? '' }
  for (const target of addresses('POST', second.ids).filter(isOfOwner)) {
    answers.add(await send(target, none))
  }

  expect([...answers]).toEqual(['403 told'])
  expect([await everythingOf(first.agent.id), await everythingOf(second.agent.id)]).toEqual(before)
  expect(theirPasskeys).toHaveLength(1)
  expect(forms.length).toBeGreaterThan(100)
  expect(ownForm(first.owner)).toContain(second.agent.id)

  function theirs(target: string): string {
    return first.ids.reduce((path, id, at) => path.replace(id, second.ids[at] ?? ''), target)
  }
  async function send(target: string, given: Record<string, string>) {
    const answer = await first.owner.send(target, {
      method: 'POST',
      body: new URLSearchParams(given).toString(),
      headers: { origin: 'http://localhost', 'content-type': type },
    })
    const isTold = answer.text.includes('nothing has changed. Open the page again')
    return `${answer.status} ${isTold ? 'told' : target}`
  }
})

/** Returns false for the forms that any signed-in person may send, such as sign-in and hosted links. */
function isOfOwner(target: string): boolean {
  return !/\/(login|join|register|action)\b/.test(target)
}

test('the menu of one account does not sign out another', async () => {
  const [one, other] = [await world.agent('read'), await world.agent('read')]
  const browser = await signedIn(world, one)
  await browser.visit('/web/security')
  const { cookies } = await signedIn(world, other)
  browser.cookies.set(session, cookies.get(session) ?? '')

  const refused = await browser.submit({}, '/web/logout')

  expect(refused.status).toBe(403)
  expect((await browser.visit('/web')).text).toContain(other.alias)
})

test('what was typed is shown to its own account alone, and goes with signing out', async () => {
  const [one, other] = [await world.agent('read'), await world.agent('read')]
  const browser = await signedIn(world, one)
  await browser.visit('/web/limits')
  await sql`update private.sessions s set proven_at = '-infinity'
    from private.credentials k where k.id = s.credential and k.account = ${one.id}`
  const type = async () => {
    await browser.visit('/web/limits')
    await browser.submit({ usd_automatic_daily: '777.77' }, '/web/limits')
  }
  await type()
  const mine = browser.cookies.get(session) ?? ''
  browser.cookies.set(session, (await signedIn(world, other)).cookies.get(session) ?? '')

  const shown = await browser.visit('/web/limits')
  browser.cookies.set(session, mine)
  await type()
  const kept = browser.cookies.has('__Host-aoa_typed')
  await browser.visit('/web/security')
  await browser.submit({}, '/web/logout')

  expect(shown.html).not.toContain('777.77')
  expect([kept, browser.cookies.has('__Host-aoa_typed')]).toEqual([true, false])
})
