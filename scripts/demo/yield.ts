/** Puts USDC into a vault, lets it earn, and has a rule of the owner move more into it. */
import { getAddress } from 'viem'
import type { AccountClient } from '../client/index.ts'
import { fund } from '../local/chain/fund.ts'
import { mustBe, mustSettle, usdcOf, type WorldFile } from './client.ts'
import { signInOwner } from './owner-browser.ts'

const depositAtomic = 5_000_000n
const movedAtomic = 3_000_000n
const unit = 1_000_000n
/** Looks of a minute and a half: rules run once a minute. */
const looksMax = 450
const lookEveryMilliseconds = 200

/** Orders a deposit, shows what it earned and its events, and follows a rule until its order is settled. */
export async function earnYield(world: WorldFile, agent: AccountClient): Promise<void> {
  const { vaults } = await agent.defiVaultsList()
  const [vault] = vaults
  const [chain] = world.chains
  if (!vault || !chain) throw new Error('the world offers no vault')
  console.log(`\nPutting USDC into ${vault.name}`)
  const { order } = await agent.defiOrderCreate({
    operation: 'deposit',
    chain: vault.chain,
    vault: vault.vault,
    amount: String(depositAtomic / unit),
    user_confirmed: true,
  })
  await mustSettle(agent, order.tx_hash ?? undefined)
  const local = { rpcUrl: chain.rpc_url, usdc: getAddress(chain.usdc) }
  await fund(local, getAddress(vault.vault), { usdcAtomic: unit })
  const seen = (await agent.defiVaultsList()).vaults[0]
  console.log(`  the position is worth ${seen?.position?.worth} USDC and earned ${seen?.earned}`)
  const { events } = await agent.defiOrderEvents({ order_id: order.order_id })
  console.log(`  its events, newest first: ${events.map(({ event }) => event).join(', ')}`)
  await followRule(world, agent, `${chain.id}:${vault.vault}`)
}

async function followRule(world: WorldFile, agent: AccountClient, vault: string): Promise<void> {
  const browser = await signInOwner(world)
  const form = `${world.web_url}/yield/rule`
  const kept = (await usdcOf(world, world.owner.address)) - movedAtomic
  const keep = `${kept / unit}.${String(kept % unit).padStart(6, '0')}`
  const terms = { vault, above: keep, keep, day: '5', sure: 'yes' }
  await browser.send(form, terms)
  const { mandates } = await agent.paymentMandateStatus({})
  const rule = mandates[0]
  if (!rule) throw new Error('the rule has no mandate')
  await browser.send(`${world.web_url}/mandate/${rule.mandate_id}`, { decision: 'approved' })
  console.log(`  the owner approves a rule: keep ${keep} USDC, move the rest in, within a minute`)
  let left = 0n
  for (let look = 0; look < looksMax && left !== kept; look += 1) {
    if (look > 0) await new Promise((resolve) => setTimeout(resolve, lookEveryMilliseconds))
    left = await usdcOf(world, world.owner.address)
  }
  mustBe('what the rule left liquid, in atomic units', left, kept)
  await agent.paymentMandateRevoke({ mandate_id: rule.mandate_id })
}
