/**
 * A session without a proof, or in an account on hold, gains nothing. The tests use the app's
 * own routes and forms.
 */
import { expect, test } from 'vitest'
import { addresses, allForms, code, fullHome, password } from '../support/all-forms.ts'
import { ownForm, signedIn } from '../support/browserless.ts'
import { excerptOf } from '../support/cases.ts'
import { seed } from '../support/vault.ts'
import { type Agent, start } from '../support/world.ts'

const world = await start({ chain: true })
const { sql } = world.db

/** Returns everything that grows only by a proof of the owner, each as text. */
async function standing({ id }: Agent): Promise<string[]> {
  const rows = await sql<{ thing: string }[]>`
    select concat_ws(' ', 'live', k.id, k.scopes, k.reads_secrets, k.max_per_payment_usd_micros,
        k.max_per_day_usd_micros) as thing
      from private.credentials k where k.account = ${id} and k.revoked_at is null
       and k.kind <> 'session'
    union all select concat_ws(' ', 'passkey', p.id) from private.passkeys p where p.account = ${id}
    union all select concat_ws(' ', 'code', r.digest) from private.recovery_codes r
      where r.account = ${id}
    union all select concat_ws(' ', 'recipient', r.address) from private.known_recipients r
      where r.account = ${id}
    union all select concat_ws(' ', 'device', d.fingerprint) from private.known_devices d
      where d.account = ${id}
    union all select concat_ws(' ', 'destination', p.id) from private.vault_destinations p
      where p.account = ${id} and p.approved_at is not null
    union all select concat_ws(' ', 'app', c.digest) from private.oauth_codes c
      where c.account = ${id}
    union all select concat_ws(' ', 'approved', p.id) from private.payments p
      where p.account = ${id} and p.consent_level in ('user_session', 'user_passkey')
    union all select concat_ws(' ', 'mandate', m.id, m.state) from private.mandates m
      where m.account = ${id}`
  return rows.map(({ thing }) => thing).toSorted()
}

const entriesOf = ({ id }: Agent) => sql`select id, version, site, username, takes_codes
  from private.vault_entries where account = ${id} order by id`

/** Returns what only a proof deletes: mails and the codes in them. */
const mailsOf = ({ id }: Agent) => sql`select m.id, c.handle
  from private.mails m left join private.mail_codes c on c.mail = m.id
  where m.account = ${id} order by 1, 2`

const states = {
  unproven: ({ id }: Agent) => sql`update private.sessions s set proven_at = '-infinity'
    from private.credentials k where k.id = s.credential and k.account = ${id}`,
  'on hold': ({ id }: Agent) => sql`select private.begin_hold(${id})`,
}

test.each(['unproven', 'on hold'] as const)(
  'a session that is %s uses, shows and changes no secret, deletes no mail and gains nothing by any form',
  async (state) => {
    const { agent, owner, ids } = await fullHome(world)
    const forms = await allForms(owner, ids)
    const thief = await signedIn(world, agent)
    await thief.visit('/web/login')
    const token = ownForm(thief)
    await sql`update private.credentials set burst = 100000, per_second = 1000
      where account = ${agent.id} and kind = 'session'`
    await sql`update private.mails set read_at = private.clock(),
      at = private.clock() - interval '400 days' where account = ${agent.id}`
    const before = {
      standing: await standing(agent),
      entries: await entriesOf(agent),
      mails: await mailsOf(agent),
    }
    await states[state](agent)

    const seen: string[] = []
    const statuses = new Set<number>()
    for (const path of addresses('GET', ids)) seen.push((await thief.send(path)).html)
    for (const { target, given } of excerptOf(forms, 30)) {
      const body = new URLSearchParams({ ...given, form: token }).toString()
      const headers = {
        origin: 'http://localhost',
        'content-type': 'application/x-www-form-urlencoded',
      }
      const answer = await thief.send(target, { method: 'POST', body, headers })
      seen.push(answer.html)
      statuses.add(answer.status)
    }

    const after = await standing(agent)
    expect(after.filter((thing) => !before.standing.includes(thing))).toEqual([])
    expect(await entriesOf(agent)).toEqual(before.entries)
    expect(before.mails).toHaveLength(1)
    expect(await mailsOf(agent)).toEqual(before.mails)
    for (const secret of [password, seed, code]) expect(seen.join()).not.toContain(secret)
    if (state === 'on hold') {
      const agents = before.standing.filter((thing) => thing.startsWith('live'))
      expect(after).toEqual(expect.arrayContaining(agents))
      expect((await owner.visit('/web/security')).path).toBe('/web/security')
    }
    expect(forms.length).toBeGreaterThan(100)
    expect([...statuses]).not.toContain(429)
    expect((await agent.get('/get-identity')).body).toMatchObject({ frozen: false })
  },
)

test('the same forms after a proof do change it, and the pages show the secrets', async () => {
  const { agent, owner, ids } = await fullHome(world)
  const before = await standing(agent)
  const [, entry = '', mail = ''] = ids

  await owner.visit(`/web/vault/${entry}`)
  const shown = await owner.submit({}, `/web/vault/${entry}/shown`)
  const read = await owner.visit(`/web/mail/${mail}`)
  await owner.submit({ sure: 'yes' }, `/web/mail/${mail}/deleted`)
  await owner.visit('/web/keys')
  await owner.submit({ label: 'New', scope: 'pay' }, '/web/keys')

  expect(shown.text).toContain(password)
  expect(read.text).toContain(code)
  expect(await mailsOf(agent)).toEqual([])
  expect((await standing(agent)).length).toBe(before.length + 1)
})

test('a key that was revoked does nothing any more, and freezes nothing', async () => {
  const { owner, other, ids } = await fullHome(world)
  const page = `/web/keys/${ids[3]}`
  await owner.visit(page)
  await owner.submit({ wanted: 'revoked', sure: 'yes' }, page)

  const answers = [await other.get('/vault-list'), await other.post('/account-freeze', {})]

  expect(answers.map(({ status }) => status)).toEqual([401, 401])
})
