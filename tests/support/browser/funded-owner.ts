/** Owners of new accounts with money, for tests that must not change the demo account. */
import type { Page } from 'playwright-core'
import * as z from 'zod'
import { fund } from '../../../scripts/local/chain/fund.ts'
import { type Agent, openAgent, register } from '../../../scripts/screenshots/stage.ts'
import { giveAuthenticator } from './authenticator.ts'
import type { Scene, VisitorOptions } from './browser.ts'
import { anybody, openAccount, type Person, press } from './people.ts'

const hex = z.templateLiteral(['0x', z.string()])
const identity = z.object({ wallets: z.array(z.object({ address: hex })) })

/** Opens an account with 1,000 USDC in a browser of its own, with a passkey if `hasPasskey` is set. */
export async function fundedOwner(
  scene: Scene,
  hasPasskey: boolean,
  options: VisitorOptions = {},
): Promise<{ page: Page; agent: Agent; person: Person }> {
  const { facts } = scene
  const person = anybody()
  const visitor = await scene.stranger(options)
  const { page } = visitor
  await giveAuthenticator(visitor)
  await page.goto(await register(facts, person.email))
  const agent = openAgent(facts.base_url, await openAccount(page, person))
  if (hasPasskey) {
    await page.goto(`${facts.web_url}/security/passkeys`)
    await page.getByLabel('Name', { exact: true }).fill('This laptop')
    await press(page, 'Add a passkey')
    await page.getByRole('heading', { name: 'This laptop' }).waitFor()
  }
  const [wallet] = (await agent('/get-identity', undefined, identity)).wallets
  const [chain] = facts.chains
  if (!wallet || !chain) throw new Error('there is no wallet to fund')
  const tokens = { rpcUrl: chain.rpc_url, usdc: hex.parse(chain.usdc) }
  await fund(tokens, wallet.address, { usdcAtomic: 1_000_000_000n })
  return { page, agent, person }
}
