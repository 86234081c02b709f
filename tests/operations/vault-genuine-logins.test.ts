/** Sign-ins work at sites that require the right fields, tokens, password and code. */
import { expect, test } from 'vitest'
import { totpCode } from '../../shared/vault/entries/totp.ts'
import { genuineLogins } from '../support/genuine-logins.ts'
import { openLoginSite } from '../support/login-site.ts'
import { textWith } from '../support/matching.ts'
import { publicLogins } from '../support/public-logins.ts'
import { codeOf, entryOf } from '../support/vault-rows.ts'
import { start } from '../support/world.ts'

const world = await start()
const username = 'ada@mail.example'
const password = 'Canary-1 horse "battery"'
const totp = { seed: 'JBSWY3DPEHPK3PXP', algorithm: 'SHA1', digits: 6, periodSeconds: 30 } as const
const mailed = '904817'

test.each([...publicLogins, ...genuineLogins])(
  '$name: the agent is signed in after one approval, and is told no secret',
  async (login) => {
    const now = () => world.world.now().getTime()
    const code = () => (login.code === 'mail' ? mailed : totpCode(totp, now()).code)
    const site = await openLoginSite(login.pages, { username, password, code })
    const agent = await world.agent('vault')
    const entry = { site: site.origin, username, password, totp }
    const credential_id = await entryOf(world, agent, entry)

    const signIn = () => agent.post('/vault-login', { credential_id, path: '/login' })
    const asked = await signIn()
    // The owner approves one form: the one with the field that takes the password.
    const field = JSON.stringify([{ secret: 'password', name: login.pages.password ?? 'password' }])
    const approved = await world.db.sql`
    update private.vault_destinations set approved_at = private.clock()
     where entry = ${credential_id} and standing @> ${field}::text::jsonb returning id`
    const begun = await signIn()
    const step = (order: object) =>
      agent.post('/vault-session', { session: begun.body['session'], ...order })
    const handle = await codeOf(world, agent, { value: mailed, hosts: ['127.0.0.1'] })
    const secret = login.code === 'mail' ? `mail.${handle}` : 'totp'
    // A TOTP code can expire on its way, so a code that was just right is requested once more.
    const entered = login.code ? [await step({ secret })] : []
    if (login.code === 'totp' && site.welcomed === 0) entered.push(await step({ secret }))
    const last = entered.at(-1) ?? begun
    const home = await step({ path: '/home' })

    expect(asked).toMatchObject({ status: 403, body: { error: 'destination_not_approved' } })
    expect(approved).toHaveLength(1)
    expect(begun.body['filled']).toEqual(['username', 'password'])
    expect(site.welcomed).toBe(1)
    expect(last.body).toMatchObject({ response: { body: textWith('Welcome') } })
    const shown = { url: `${site.origin}/home`, body: textWith('Welcome') }
    expect(home).toMatchObject({ status: 200, body: { response: shown } })
    const told = JSON.stringify([begun.body, ...entered.map(({ body }) => body), home.body])
    expect(told).not.toMatch(/canary|904817|set-cookie/i)
  },
)
