import { beforeAll, expect, test } from 'vitest'
import { connectedChains } from '../../shared/chains/registry.ts'
import { indexTransfers } from '../../shared/payments/deposits/index-transfers.ts'
import { openBrowser, signedIn } from '../support/browserless.ts'
import { newKey } from '../support/chain-world.ts'
import { payAs } from '../support/deposits.ts'
import { browserOf, linkOf } from '../support/links.ts'
import { openPerson } from '../support/person.ts'
import { type Agent, start } from '../support/world.ts'

const world = await start({
  chain: true,
  rpcUrls: { 'eip155:421614': ['http://127.0.0.1:9'] },
})

beforeAll(async () => {
  await indexTransfers(world.world)
})

test('the deposit page offers every connected network and token, and shows what arrives', async () => {
  const agent = await world.agent('read')
  const browser = await signedIn(world, agent)
  const page = await browser.visit('/web/deposit')
  for (const way of ['USDC on Base Sepolia', 'EURC on Base Sepolia', 'USDC on Arbitrum Sepolia']) {
    expect(page.text).toContain(way)
  }
  expect(page.text).toContain('Nothing yet')
  const chosen = await browser.visit('/web/deposit?network=arbitrum-sepolia&token=USDC')
  expect(chosen.html).toContain('Code for sending USDC on Arbitrum Sepolia')
  expect((await browser.visit('/web/deposit/last')).html).toBe('none')

  await payAs(world, newKey().at, agent.address, 2_250_000n)
  await indexTransfers(world.world)

  expect((await browser.visit('/web/deposit')).text).toContain('2.25 USDC')
  expect((await browser.visit('/web/deposit/last')).html).not.toBe('none')
})

test('the deposit page names each token on each connected network of the registry, and no other', async () => {
  const browser = await signedIn(world, await world.agent('read'))

  const { text } = await browser.visit('/web/deposit')

  const [, taken = ''] = /This address accepts (.*?)\. Any other token/.exec(text) ?? []
  const expected = connectedChains(world.world.config).map(
    ({ title, tokens }) => `${tokens.map(({ symbol }) => symbol).join(' and ')} on ${title}`,
  )
  expect(taken.split(/,(?: and)? /)).toEqual(expected)
  expect(expected).toHaveLength(2)
  expect(text).toContain('this service cannot move it')
})

test('a network or token that is not offered is never shown, whatever the address says', async () => {
  const browser = await signedIn(world, await world.agent('read'))

  const page = await browser.visit('/web/deposit?network=base&token=%22%3E%3Cscript%3E')

  expect(page.html).toContain('Code for sending USDC on Base Sepolia')
  expect(page.html).not.toContain('"><script>')
})

/** Pays from a wallet by a link. Returns the wallet and the page on which its owner may keep it. */
async function paidByWallet(agent: Agent) {
  const link = await linkOf(agent, { action_type: 'walletconnect' })
  const phone = browserOf(world, link, 'phone')
  const wallet = newKey().at
  await phone('open')
  await phone('connect', { wallet })
  await payAs(world, wallet, agent.address, 3_000_000n)
  await indexTransfers(world.world)
  return { wallet, path: `/web/keep-wallet/${link.action_id}` }
}

const isKnown = async ({ id }: Agent, address: string) =>
  (
    await world.db.sql`select from private.known_recipients
      where account = ${id} and address = ${address}`
  ).length === 1

test('a wallet that paid is known once its owner ticks it, and decisions are taken anew', async () => {
  const agent = await world.agent('read')
  const { wallet, path } = await paidByWallet(agent)
  const owner = await signedIn(world, agent)
  const version = () =>
    world.db.sql`select facts_version from private.accounts where id = ${agent.id}`
  const [before] = await version()
  await owner.visit(path)
  expect((await owner.submit({}, path)).text).toContain('Trust this recipient')
  expect(await isKnown(agent, wallet)).toBe(false)

  const page = await owner.submit({ sure: 'yes' }, path)

  expect(page.text).toContain(`It is a trusted recipient of ${agent.alias}`)
  expect(await isKnown(agent, wallet)).toBe(true)
  expect((await version())[0]).toEqual({ facts_version: Number(before?.['facts_version']) + 1 })
})

test('a wallet that becomes known is told by mail, and is the one that was shown', async () => {
  const person = await openPerson(world)
  const { wallet, path } = await paidByWallet(person.agent)
  const owner = await signedIn(world, person.agent)
  await owner.visit(path)

  await owner.submit({ sure: 'yes', wallet: newKey().at }, path)
  const other = await isKnown(person.agent, wallet)
  await owner.submit({ sure: 'yes' }, path)

  expect([other, await isKnown(person.agent, wallet)]).toEqual([false, true])
  const [mail] = await world.mails(person.email)
  expect(mail).toMatchObject({ subject: 'New trusted recipient' })
  expect(mail?.text).toContain(wallet)
})

test('a wallet becomes known by nobody but its signed-in owner with fresh proof', async () => {
  const agent = await world.agent('full')
  const { wallet, path } = await paidByWallet(agent)
  const stranger = await signedIn(world, await world.agent('read'))
  expect((await stranger.visit(path)).status).toBe(404)
  expect((await openBrowser(world).visit(path)).path).toContain('/web/login')
  const owner = await signedIn(world, agent)
  await owner.visit(path)
  await world.db.sql`update private.sessions
    set proven_at = private.clock() - interval '11 minutes'`

  const stale = await owner.submit({ sure: 'yes' }, path)

  expect(stale.path).toContain('/web/proof?next=')
  expect(await isKnown(agent, wallet)).toBe(false)
})
