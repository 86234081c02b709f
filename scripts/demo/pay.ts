/** First call order of skill.md: one alias pays another. */
import type {
  AccountClient,
  WalletCustodialTransferAnswer,
  WalletCustodialTransferRequest,
} from '../client/index.ts'
import { mustBe, mustSettle, usdcOf, type WorldFile } from './client.ts'

const amount = '1.25'
const amountAtomic = 1_250_000n

/** Pays the shop by its alias and checks what it received on the chain. */
export async function payByAlias(world: WorldFile, agent: AccountClient): Promise<void> {
  console.log(`\nPaying ${amount} USDC to ${world.shop.alias}`)
  const me = await agent.getIdentity()
  const held = await agent.walletBalances()
  console.log(`  ${me.mail_address}: ${held.total_usd} USD, of it ${held.available_usd} available`)
  const found = await agent.resolveTransferRecipient({ recipient: world.shop.alias })
  mustBe('the address behind the alias', found.address, world.shop.address)
  const before = await usdcOf(world, world.shop.address)
  const order = { recipient: world.shop.alias, chain: 'base-sepolia', token: 'USDC', amount }
  const asked = await agent.walletCustodialTransfer(order)
  const sent = asked.requires_user_confirm ? await confirm(agent, order, asked) : asked
  await mustSettle(agent, sent.tx_hash)
  const received = (await usdcOf(world, world.shop.address)) - before
  mustBe('what the payee received, in atomic units', received, amountAtomic)
}

/** Confirms the transfer, which a person would be asked about. */
function confirm(
  agent: AccountClient,
  order: WalletCustodialTransferRequest,
  { summary, transfer_id }: WalletCustodialTransferAnswer,
) {
  console.log(`  "${summary}" - confirmed by the user`)
  return agent.walletCustodialTransfer({ ...order, transfer_id, user_confirmed: true })
}
