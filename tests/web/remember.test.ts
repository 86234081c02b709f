/** Ticks beside an approval are off at first, a part of what is signed, and can be undone later. */
import { beforeAll, describe, expect, test } from 'vitest'
import * as z from 'zod'
import { credentialOf } from '../../shared/auth/api-key.ts'
import { type Authenticator, consentAskedOn } from '../support/authenticator.ts'
import { type Browser, signedIn } from '../support/browserless.ts'
import { appWith } from '../support/capped.ts'
import { askMandate } from '../support/mandates.ts'
import type { Tick } from '../support/owner.ts'
import { addPasskey, openPerson } from '../support/person.ts'
import { type Agent, pepper, start, type TestWorld } from '../support/world.ts'

let world: TestWorld
beforeAll(async () => {
  world = await start({ chain: true })
})

const ticks: readonly Tick[] = ['remember_payee', 'any_key', 'remember_device']
/** Returns every selection of these ticks, in their order. */
const choicesOf = (names: readonly Tick[]): Tick[][] =>
  names.reduce<Tick[][]>((all, name) => all.flatMap((ticked) => [ticked, [...ticked, name]]), [[]])
const sent = (ticked: readonly Tick[]) => Object.fromEntries(ticked.map((one) => [one, 'yes']))

async function home() {
  const { agent } = await openPerson(world, 2_000)
  return { agent, browser: await signedIn(world, agent) }
}

/** Creates a payment that waits for the owner. Returns it with its page. */
async function waiting(payer: Agent) {
  const payee = await world.agent('read')
  const order = { recipient: payee.alias, chain: 'base-sepolia', token: 'USDC', amount: '500' }
  const asked = await payer.post('/wallet-custodial-transfer', order)
  const id = z.uuid().parse(asked.body['transfer_id'])
  return { payee, id, page: `/web/approve/${id}` }
}

async function knownTo({ id }: Agent) {
  const [row] = await world.db.sql`select
    (select count(*)::integer from private.known_recipients where account = ${id}) as recipients,
    (select count(*)::integer from private.known_devices where account = ${id}) as devices`
  return row
}

async function keyOf({ key }: Agent): Promise<string> {
  const digest = await credentialOf(key, pepper)
  const [row] = await world.db.sql`select id from private.credentials where digest = ${digest}`
  return z.uuid().parse(row?.['id'])
}

/** Adds to a credential the other rows and fields of a grant, so that the page of its app opens. */
async function listAsApp(grant: string): Promise<void> {
  await world.db.sql`update private.credentials
    set expires_at = private.clock() + interval '1 day' where id = ${grant}`
  await world.db.sql`
    insert into private.oauth_grants (credential, client_id, client_host, redirect_host)
    values (${grant}, 'https://app.example/client', 'app.example', 'app.example')`
}

describe('without a passkey', () => {
  test.each(choicesOf(ticks).map((ticked) => ({ ticked })))(
    'an approval with $ticked makes that known and nothing else',
    async ({ ticked }) => {
      const { agent, browser } = await home()
      const { page, id } = await waiting(agent)

      const shown = await browser.visit(page)
      expect(shown.text).toContain('Trust this recipient')
      expect(shown.text).toContain('Trust this device')
      expect(shown.text).toContain('Any key or app of this account')
      expect(shown.html).not.toContain('checked')
      const after = await browser.submit({ decision: 'approved', ...sent(ticked) }, page)

      expect(after.text).toContain('This payment was made')
      expect(await knownTo(agent)).toEqual({
        recipients: Number(ticked.includes('remember_payee')),
        devices: Number(ticked.includes('remember_device')),
      })
      const [row] = await world.db.sql`
        select for_any_key from private.payments where id = ${id}`
      expect(row?.['for_any_key']).toBe(ticked.includes('any_key'))
    },
  )

  test('a form whose terms are not those of the page approves and remembers nothing', async () => {
    const { agent, browser } = await home()
    const { page } = await waiting(agent)
    await browser.visit(page)

    const forged = { decision: 'approved', digest: 'ab'.repeat(32), ...sent(ticks) }
    expect((await browser.submit(forged, page)).status).toBe(409)
    expect(await knownTo(agent)).toEqual({ recipients: 0, devices: 0 })
  })
})

describe('with a passkey', () => {
  /** Signs with some boxes ticked, and sends the form with others ticked. */
  async function approve(
    browser: Browser,
    passkey: Authenticator,
    page: string,
    signed: Tick[],
    ticked: Tick[],
  ) {
    const { options } = consentAskedOn(await browser.visit(page), ...signed)
    const answer = passkey.get(options)
    return browser.submit({ decision: 'approved', answer, ...sent(ticked) }, page)
  }

  test('what it signed with some boxes ticked approves nothing with others', async () => {
    const { agent, browser } = await home()
    const passkey = await addPasskey(browser)
    const { page } = await waiting(agent)

    for (const signed of choicesOf(ticks)) {
      for (const tick of ticks) {
        const flipped = signed.includes(tick)
          ? signed.filter((one) => one !== tick)
          : ticks.filter((one) => one === tick || signed.includes(one))
        const { status } = await approve(browser, passkey, page, signed, flipped)
        expect(status).toBe(409)
      }
    }
    expect(await knownTo(agent)).toEqual({ recipients: 0, devices: 0 })

    const shown = await approve(browser, passkey, page, [...ticks], [...ticks])
    expect(shown.text).toContain('You trusted')
    expect(await knownTo(agent)).toEqual({ recipients: 1, devices: 1 })
  })

  test('a mandate for who asked and one for any key are signed apart', async () => {
    const { agent, browser } = await home()
    const passkey = await addPasskey(browser)
    const { id } = await askMandate(world, agent)
    const page = `/web/mandate/${id}`

    expect((await approve(browser, passkey, page, [], ['any_key'])).status).toBe(409)
    expect((await approve(browser, passkey, page, ['any_key'], [])).status).toBe(409)
    const shown = await approve(browser, passkey, page, ['any_key'], ['any_key'])

    expect(shown.text).toContain('This mandate is active')
    expect(shown.text).toContain('Any key or app of this account')
    expect(await knownTo(agent)).toEqual({ recipients: 0, devices: 0 })
  })
})

test('an imitation and a batch are offered no such tick', async () => {
  const { agent, browser } = await home()
  const known = (await world.agent('read')).address
  const twin = `${known.slice(0, 6)}${'0'.repeat(32)}${known.slice(-4)}`.toLowerCase()
  await world.acquaint(agent, known)
  const order = { recipient: twin, chain: 'base-sepolia', token: 'USDC', amount: '1' }
  const asked = await agent.post('/wallet-custodial-transfer', order)
  const others = [await waiting(agent), await waiting(agent)]

  const imitation = await browser.visit(`/web/approve/${String(asked.body['transfer_id'])}`)
  const batch = await browser.visit(
    `/web/approve-batch?${others.map(({ id }) => `payment=${id}`).join('&')}`,
  )

  expect(imitation.text).toContain('Any key or app of this account')
  expect(imitation.text).not.toContain('Trust this recipient')
  expect(batch.text).toContain('Approve these 2 payments')
  expect(batch.text).not.toContain('remember this')
})

test.each(['key', 'app'])(
  'ending a %s lists whom its requests made known, and removes them together',
  async (kind) => {
    const { agent, browser } = await home()
    const asker = kind === 'key' ? await agent.withKey('pay') : await appWith(world, agent)
    const holder = 'holder' in asker ? String(asker.holder) : await keyOf(asker)
    const { page, payee } = await waiting(asker)
    const kept = await world.agent('read')
    await world.acquaint(agent, kept.address)
    if (kind === 'app') await listAsApp(holder)
    await browser.visit(page)
    await browser.submit({ decision: 'approved', remember_payee: 'yes' }, page)
    const path = `/web/${kind}s/${holder}`

    await browser.visit(path)
    const wanted = kind === 'key' ? 'revoked' : 'disconnected'
    const listed = await browser.submit({ wanted, sure: 'yes' }, path)
    expect(listed.path).toMatch(new RegExp(`^/web/recipients\\?asked_by=${holder}$`))
    expect(listed.text).toContain('What you trusted at its request')
    expect(listed.text).toContain(payee.alias)
    const removed = await browser.submit({ asked_by: holder, sure: 'yes' }, '/web/recipients')

    expect(removed.text).not.toContain(payee.alias)
    expect(removed.text).toContain(kept.alias)
  },
)
