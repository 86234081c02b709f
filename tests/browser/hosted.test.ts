/** Each kind of hosted action runs to its end, as the person and the agent see it. */
import { expect, test } from 'vitest'
import * as z from 'zod'
import { fund } from '../../scripts/local/chain/fund.ts'
import { openAgent } from '../../scripts/screenshots/stage.ts'
import { openScene, type Visitor } from '../support/browser/browser.ts'
import { barriersOn } from '../support/browser/sight.ts'
import { giveWallet } from '../support/browser/wallet.ts'
import { randomBytes } from '../support/seed.ts'

const scene = await openScene()
const { facts } = scene
const agent = openAgent(facts.base_url, facts.api_keys.read)
const linkSchema = z.object({ url: z.url(), action_id: z.uuid() })
const statusSchema = z.object({
  status: z.string(),
  result: z.record(z.string(), z.unknown()).optional(),
})
const hex = z.templateLiteral(['0x', z.string()])
const [chain, quietChain] = facts.chains.map(({ id, rpc_url, usdc }) => {
  return { chainId: id, rpcUrl: rpc_url, usdc: hex.parse(usdc) }
})
if (!chain || !quietChain) throw new Error('the world has two chains')

function createLink(action_type: string, asked: object = {}) {
  return agent('/create-hosted-action', { action_type, ...asked }, linkSchema)
}

function statusOf({ action_id }: { action_id: string }) {
  return agent(`/hosted-action-status?action_id=${action_id}`, undefined, statusSchema)
}

/** Opens the link and continues. Asserts that each page on the way has no accessibility barriers. */
async function open({ page }: Visitor, url: string) {
  await page.goto(url)
  expect(await barriersOn(page)).toEqual([])
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('button', { name: 'Continue' }).waitFor({ state: 'detached' })
  expect(await barriersOn(page)).toEqual([])
}

async function finishedBy({ page }: Visitor, link: { action_id: string }, heading: string) {
  await page.getByRole('heading', { name: heading }).waitFor()
  expect(await barriersOn(page)).toEqual([])
  return statusOf(link)
}

test('deposit: the page shows what arrives by itself, and the agent hears of it', async () => {
  // Other files, which run at the same time, pay to the account on the other chain.
  const network = `eip155:${quietChain.chainId}`
  const link = await createLink('deposit', { chain: network, token: 'USDC', amount: '3.50' })
  const person = await scene.stranger()
  await open(person, link.url)
  expect(await statusOf(link)).toMatchObject({ status: 'opened' })

  await fund(quietChain, hex.parse(facts.owner.address), { usdcAtomic: 3_500_000n })

  const { status, result } = await finishedBy(person, link, 'The money has arrived')
  expect(status).toBe('finished')
  expect(result).toMatchObject({ amount: '3.5', token: 'USDC', chain: network })
})

test('walletconnect: a wallet of the browser pays, and is known to nobody by that', async () => {
  const link = await createLink('walletconnect', { chain: 'base-sepolia', token: 'USDC' })
  const person = await scene.stranger()
  const wallet = hex.parse(`0x${randomBytes(20).toString('hex')}`)
  await giveWallet(person.context, { chain, address: wallet, usdc: 20 })
  await open(person, link.url)
  const { page } = person

  await page.getByRole('button', { name: 'Test wallet' }).click()
  await page.getByLabel('Amount').fill('2.25')
  await page.getByRole('button', { name: 'Send from this wallet' }).click()

  const { result } = await finishedBy(person, link, 'The money has arrived')
  expect(result).toMatchObject({ amount: '2.25' })
  expect(String(result?.['from']).toLowerCase()).toBe(wallet)
  await expect(page.getByText('not a trusted recipient').count()).resolves.toBe(1)
})

test('human_verification: a person says so', async () => {
  const link = await createLink('human_verification')
  const person = await scene.stranger()
  await open(person, link.url)

  await person.page.getByRole('button', { name: 'I am here' }).click()

  const { status, result } = await finishedBy(person, link, 'Done')
  expect(status).toBe('finished')
  expect(new Date(String(result?.['valid_until'])).getTime()).toBeGreaterThan(0)
})

test('login: the link leads to the sign-in page and is finished by signing in', async () => {
  const link = await createLink('login')
  const { page } = await scene.owner()

  await page.goto(link.url)
  await page.getByRole('button', { name: 'Continue' }).click()

  await page.waitForURL(facts.web_url)
  await expect.poll(async () => (await statusOf(link)).status).toBe('finished')
})

test('a link is declined, or used by the browser that opened it first', async () => {
  const [declined, used] = [await createLink('deposit'), await createLink('deposit')]
  const [first, second] = [await scene.stranger(), await scene.stranger()]

  await first.page.goto(declined.url)
  await first.page.getByRole('button', { name: 'Decline' }).click()
  await first.page.getByRole('heading', { name: 'You declined' }).waitFor()
  await open(first, used.url)
  await second.page.goto(used.url)

  expect((await statusOf(declined)).status).toBe('declined')
  await expect(second.page.getByText('opened in another browser').count()).resolves.toBe(1)
  expect(await barriersOn(second.page)).toEqual([])
})
