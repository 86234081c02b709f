/** What must be refused is refused, with the status that the specification names. */
import { mustBe, openClient } from './client.ts'
import type { WorldFile } from './world-file.ts'

export async function refusals(world: WorldFile): Promise<void> {
  console.log('\nWhat must be refused')
  const order = { recipient: world.shop.alias, chain: 'base-sepolia', token: 'USDC', amount: '1' }
  const post = (body: string): RequestInit => ({ method: 'POST', body })
  const nobody = openClient(world)
  const reader = openClient(world, world.api_keys.read)
  const transfer = '/wallet-custodial-transfer'
  const withoutToken = await nobody.refused(transfer, post('{'))
  const byReader = await reader.refused(transfer, post(JSON.stringify(order)))
  const oldForm = await reader.refused('/v1/get-identity')
  const pageTooLong = await reader.refused('/wallet-activity-list?limit=51')
  mustBe('a transfer without a token', withoutToken, '401 unauthorized')
  mustBe('a transfer with a read key', byReader, '403 insufficient_scope')
  mustBe('a path with a version in it', oldForm, '404 not_found')
  mustBe('a page of 51 items', pageTooLong, '400 invalid_request')
}
