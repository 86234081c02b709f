/** Checks that forbidden calls are refused with the status that the specification names. */
import { mustBe, openAccount, refusalOf } from './client.ts'
import type { WorldFile } from './world-file.ts'

/** Makes one call of each kind and compares status and error code. */
export async function refusals(world: WorldFile): Promise<void> {
  console.log('\nWhat must be refused')
  const order = { recipient: world.shop.alias, chain: 'base-sepolia', token: 'USDC', amount: '1' }
  const reader = openAccount(world, world.api_keys.read)
  const ofOldForm = openAccount({ ...world, base_url: `${world.base_url}/v1` }, world.api_keys.read)
  const withoutToken = await refusalOf(openAccount(world).walletCustodialTransfer(order))
  const byReader = await refusalOf(reader.walletCustodialTransfer(order))
  const oldForm = await refusalOf(ofOldForm.getIdentity())
  const pageTooLong = await refusalOf(reader.walletActivityList({ limit: '51' }))
  mustBe('a transfer without a token', withoutToken, '401 unauthorized')
  mustBe('a transfer with a read key', byReader, '403 insufficient_scope')
  mustBe('a path with a version in it', oldForm, '404 not_found')
  mustBe('a page of 51 items', pageTooLong, '400 invalid_request')
}
