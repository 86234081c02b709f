/** A wallet outside the browser pays through WalletConnect; its own client plays the wallet. */
import type { Page } from 'playwright-core'
import { afterAll, expect, test } from 'vitest'
import * as z from 'zod'
import { openAgent } from '../../scripts/screenshots/stage.ts'
import { openScene, type Visitor } from '../support/browser/browser.ts'
import { barriersOn } from '../support/browser/sight.ts'
import { type Manner, openFarWallet } from '../support/walletconnect/wallet.ts'

const scene = await openScene()
const { facts, relay } = scene
const agent = openAgent(facts.base_url, facts.api_keys.read)
const [first] = facts.chains
const usdc = z.templateLiteral(['0x', z.string()]).parse(first?.usdc)
const chain = { chainId: first?.id ?? 0, rpcUrl: first?.rpc_url ?? '', usdc }
const wallet = await openFarWallet({ relay, chain, usdc: 50 })
afterAll(() => wallet.close())

const linkSchema = z.object({ url: z.url(), action_id: z.uuid() })
const statusSchema = z.object({ result: z.record(z.string(), z.unknown()).optional() })

async function openLink({ page }: Visitor) {
  const asked = { action_type: 'walletconnect', chain: 'base-sepolia', token: 'USDC' }
  const link = await agent('/create-hosted-action', asked, linkSchema)
  await page.goto(link.url)
  await page.getByRole('button', { name: 'Continue' }).click()
  return link
}

/** Returns the connection code as the person would pass it to the wallet. */
async function codeOn(page: Page): Promise<string> {
  await page.getByRole('button', { name: 'WalletConnect' }).click()
  await page.getByRole('heading', { name: 'Connect with WalletConnect' }).waitFor()
  return z.string().parse(await page.locator('#pairing-text').textContent())
}

async function connect({ page }: Visitor, manner?: Manner) {
  await wallet.pair(await codeOn(page), manner)
  await page.getByRole('heading', { name: 'Send', exact: true }).waitFor()
}

async function send({ page }: Visitor, amount: string) {
  await page.getByLabel('Amount').fill(amount)
  await page.getByRole('button', { name: 'Send from this wallet' }).click()
}

const says = ({ page }: Visitor, words: string) =>
  page.locator('#wallet-status', { hasText: words }).waitFor()

test('a wallet that read the code pays, and the agent hears of it', async () => {
  const person = await scene.stranger()
  const { page } = person
  const link = await openLink(person)
  const code = await codeOn(page)
  expect(await page.getByRole('link', { name: 'Open a wallet here' }).getAttribute('href')).toBe(
    code,
  )
  expect(await page.locator('#pairing-drawing path').getAttribute('d')).toMatch(/^M4 4h7/)
  expect(await barriersOn(page)).toEqual([])

  await wallet.pair(code)
  await page.getByRole('heading', { name: 'Send', exact: true }).waitFor()
  expect(await barriersOn(page)).toEqual([])
  await send(person, '2.25')

  await page.getByRole('heading', { name: 'The money has arrived' }).waitFor()
  const path = `/hosted-action-status?action_id=${link.action_id}`
  const { result } = await agent(path, undefined, statusSchema)
  expect(result).toMatchObject({ amount: '2.25', token: 'USDC' })
  expect(String(result?.['from']).toLowerCase()).toBe(wallet.address)
  expect(wallet.asked).toEqual([`eth_sendTransaction on eip155:${chain.chainId}`])
  // The page closed, so the wallet must not keep a session without a peer.
  await expect.poll(() => wallet.sessions()).toEqual([])
})

test('what is said while the line is down arrives when it is back', async () => {
  const person = await scene.stranger()
  await openLink(person)
  const code = await codeOn(person.page)

  await fetch(`${relay.url.replace('ws', 'http')}/break`, { method: 'POST' })
  await wallet.pair(code)
  await person.page.getByRole('heading', { name: 'Send', exact: true }).waitFor()
  await fetch(`${relay.url.replace('ws', 'http')}/break`, { method: 'POST' })
  await send(person, '1.00')

  await says(person, 'Sent.')
})

test.each<[Manner, string]>([
  ['refuses to pair', 'You declined in the wallet. Nothing was sent.'],
  ['has another network', 'Add Base Sepolia to your wallet, then try again.'],
])('a wallet that %s is told as what it is, and another code can be had', async (manner, words) => {
  const person = await scene.stranger()
  await openLink(person)

  await wallet.pair(await codeOn(person.page), manner)

  await says(person, words)
  await person.page.locator('#pairing').waitFor({ state: 'hidden' })
  await connect(person)
})

test('a person who declines in the wallet sends nothing, and can try again', async () => {
  const person = await scene.stranger()
  await openLink(person)
  await connect(person, 'declines')

  await send(person, '1.00')

  await says(person, 'You declined in the wallet. Nothing was sent.')
  expect(await person.page.getByRole('button', { name: 'Send from this wallet' }).isEnabled()).toBe(
    true,
  )
})

test('either side can end the connection, and both know', async () => {
  const person = await scene.stranger()
  const { page } = person
  await openLink(person)
  await connect(person)
  // Not every browser lets a page of an earlier test end its session when it is closed.
  const session = z.string().parse(wallet.sessions().at(-1))
  await page.getByRole('button', { name: 'Disconnect' }).click()
  await says(person, 'The wallet is disconnected.')
  await expect.poll(() => wallet.sessions()).not.toContain(session)
  await connect(person)

  await wallet.leave()

  await says(person, 'The wallet is disconnected.')
  expect(await page.getByRole('button', { name: 'Send from this wallet' }).isVisible()).toBe(false)
})

test('a relay that turns the project away is not asked for ever', async () => {
  const person = await scene.stranger()
  const { page } = person
  await openLink(person)
  await page.evaluate(`document.querySelector('#pairing').dataset.project = 'other'`)

  await page.getByRole('button', { name: 'WalletConnect' }).click()

  await says(person, 'WalletConnect cannot be reached.')
})

test('a relay that cannot be reached is told in a few seconds', async () => {
  const person = await scene.stranger()
  const { page } = person
  await page.routeWebSocket(/^ws:/, (socket) => socket.close())
  await openLink(person)

  await page.getByRole('button', { name: 'WalletConnect' }).click()

  await says(person, 'WalletConnect cannot be reached.')
})

test('a code that no wallet reads is given up after five minutes', async () => {
  const person = await scene.stranger()
  await person.page.clock.install()
  await openLink(person)
  await codeOn(person.page)

  await person.page.clock.fastForward('05:01')

  await says(person, 'No wallet answered within five minutes.')
  await person.page.locator('#pairing').waitFor({ state: 'hidden' })
})

test('nobody is spoken to but the product and the relay, and only by those who choose it', async () => {
  const person = await scene.stranger()
  const { page, context } = person
  const reached: string[] = []
  context.on('request', (request) => reached.push(new URL(request.url()).origin))
  page.on('websocket', (socket) => reached.push(new URL(socket.url()).origin))
  await openLink(person)
  const scripts = page.locator('script[src*=walletconnect]')
  expect([reached.includes(relay.url), await scripts.count()]).toEqual([false, 0])

  await connect(person)

  expect(new Set(reached)).toEqual(new Set([new URL(facts.web_url).origin, relay.url]))
})
