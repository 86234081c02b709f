/** A link of any kind does nothing once the key or app that made it could no longer make it. */
import { beforeAll, expect, test } from 'vitest'
import { indexTransfers } from '../../shared/payments/deposits/index-transfers.ts'
import { signedIn } from '../support/browserless.ts'
import { appWith, type Capped, keyWith } from '../support/capped.ts'
import { newKey } from '../support/chain-world.ts'
import { payAs } from '../support/deposits.ts'
import { browserOf, linkOf, type Made, statusOf } from '../support/links.ts'
import { ownerOf, type TestOwner } from '../support/owner.ts'
import { type Agent, start, type TestWorld } from '../support/world.ts'

let world: TestWorld
beforeAll(async () => {
  world = await start({ chain: true })
  await indexTransfers(world.world)
})

const kinds = ['login', 'deposit', 'walletconnect', 'human_verification', 'website_login'] as const
type Kind = (typeof kinds)[number]
const orderOf = (kind: Kind) => ({
  action_type: kind,
  ...(kind === 'website_login' ? { site: 'https://www.shop.com' } : {}),
})

type Ending = (owner: TestOwner, maker: Capped) => Promise<unknown>
const revoke: Ending = (owner, { holder: key }) => owner.call('owner_revoke_key', { key })
const disconnect: Ending = (owner, { holder: app }) => owner.call('owner_disconnect_apps', { app })
const end: Ending = (_owner, { holder }) =>
  world.db.sql`update private.credentials set expires_at = private.clock() where id = ${holder}`
const narrow: Ending = (_owner, { holder }) =>
  world.db.sql`update private.credentials set scopes = '{}' where id = ${holder}`

const makers = {
  'a key that is revoked': { makerWith: keyWith, ended: revoke },
  'a key that has ended': { makerWith: keyWith, ended: end },
  'a key that lacks the scope': { makerWith: keyWith, ended: narrow },
  'an app that is disconnected': { makerWith: appWith, ended: disconnect },
}
const cases = Object.entries(makers).flatMap(([name, maker]) =>
  kinds.map((kind) => ({ name, kind, ...maker })),
)

/** Takes every step that a person can take with a link in any browser, and completes it from outside. */
async function doAll(agent: Agent, kind: Kind, links: readonly Made[]) {
  const wallet = newKey().at
  for (const link of links) {
    const phone = browserOf(world, link, 'phone')
    for (const step of ['open', 'verify'] as const) await phone(step)
    await phone('connect', { wallet })
  }
  if (kind === 'deposit' || kind === 'walletconnect') {
    await payAs(world, wallet, agent.address, 1_000_000n)
    await indexTransfers(world.world)
  }
  const browser = await signedIn(world, agent)
  for (const link of links) {
    const path = new URL(link.url).pathname
    const shown = await browser.visit(path)
    const form = browser.cookies.get('__Host-aoa_form') ?? ''
    const body = new URLSearchParams({ form, username: 'ada', password: 'nine blue canaries' })
    const headers = { origin: 'http://localhost' }
    await browser.send(`${path}/open`, { method: 'POST', body, headers })
    await browser.send(`${path}/enter`, { method: 'POST', body, headers })
    expect(shown.text).not.toContain('You declined')
  }
}

/** Returns one link that its person has opened and one that still waits. */
async function linksOf(agent: Agent, maker: Agent, kind: Kind) {
  const [opened, waiting] = [await linkOf(maker, orderOf(kind)), await linkOf(maker, orderOf(kind))]
  if (kind === 'website_login') {
    const browser = await signedIn(world, agent)
    await browser.visit(new URL(opened.url).pathname)
    await browser.submit({}, `${new URL(opened.url).pathname}/open`)
  } else {
    await browserOf(world, opened, 'phone')('open')
  }
  return [opened, waiting] as const
}

test.each(cases)('of $name a link for $kind does nothing, opened or not', async (given) => {
  const { kind, makerWith, ended } = given
  await world.db.sql`delete from private.rate_buckets`
  const agent = await world.agent('full')
  const maker = await makerWith(world, agent)
  const owner = await ownerOf(world, agent)
  const links = await linksOf(agent, maker, kind)
  await ended(owner, maker)

  for (const link of links) {
    expect(await statusOf(agent, link)).toMatchObject({ status: 'expired' })
  }
  await doAll(agent, kind, links)

  for (const link of links) {
    const status = await statusOf(agent, link)
    expect(status).toMatchObject({ status: 'expired' })
    expect(status).not.toHaveProperty('result')
  }
  const entries = await world.db.sql`
    select from private.vault_entries where account = ${agent.id}`
  expect(entries).toHaveLength(0)
  const [row] = await world.db.sql`select count(*) from private.hosted_actions
    where account = ${agent.id} and (opened_at > expires_at or wallet is not null)`
  expect(row).toEqual({ count: '0' })
})

test('what a link came to before its key was revoked stands', async () => {
  const agent = await world.agent('full')
  const maker = await keyWith(world, agent)
  const link = await linkOf(maker, { action_type: 'human_verification' })
  const phone = browserOf(world, link, 'phone')
  for (const step of ['open', 'verify'] as const) await phone(step)

  await revoke(await ownerOf(world, agent), maker)

  expect(await statusOf(agent, link)).toMatchObject({ status: 'finished' })
})

test('a link says at which time it ends with its key', async () => {
  const agent = await world.agent('full')
  const maker = await keyWith(world, agent)
  await world.db.sql`update private.credentials set expires_at = private.clock() + interval '5 min'
    where id = ${maker.holder}`

  const link = await linkOf(maker, { action_type: 'deposit' })

  const [row] = await world.db.sql<{ expires_at: Date }[]>`
    select expires_at from private.credentials where id = ${maker.holder}`
  expect(new Date(link.expires_at)).toEqual(row?.expires_at)
})
