/** Two hosts on two chains that present one MPP challenge get one payment from an account. */
import { Challenge } from 'mppx'
import { afterAll, expect, test } from 'vitest'
import { beginReading } from '../../scripts/local/chain/gas-payers.ts'
import { fund, startChain } from '../../scripts/local/chain.ts'
import { newKey } from '../support/chain-world.ts'
import { answering, serverThat } from '../support/http.ts'
import { attemptOf, execute, openMarket, prepare } from '../support/market.ts'

const arbitrum = await startChain({ chainId: 421614 })
afterAll(() => arbitrum.stop())
const market = await openMarket({ rpcUrls: { [arbitrum.network]: [arbitrum.rpcUrl] } })
await beginReading(market.db.sql, arbitrum)
const chains = [market.chain, arbitrum]

/** Returns an account that can pay on both chains, and a host for each that uses the same challenge. */
async function openShops(id: string) {
  const agent = await market.agent('pay', { usdc: 1 })
  await fund(arbitrum, agent.address, { usdcAtomic: 1_000_000n })
  const recipient = newKey().at
  const challengeOn = ({ usdc, chainId }: (typeof chains)[number]) =>
    Challenge.serialize(
      Challenge.from({
        id,
        realm: 'merchant.com',
        method: 'evm',
        intent: 'charge',
        expires: new Date(market.world.now().getTime() + 300_000).toISOString(),
        request: {
          amount: '10000',
          currency: usdc,
          recipient,
          methodDetails: { chainId, credentialTypes: ['authorization'] },
        },
      }),
    )
  const shops = await Promise.all(
    chains.map((chain) => serverThat(answering(402, { 'www-authenticate': challengeOn(chain) }))),
  )
  const paid = () =>
    shops.flatMap(({ received }) => received).filter(({ headers }) => headers.authorization).length
  return { agent, urls: shops.map(({ url }) => url), paid }
}

test('a challenge that was signed for one chain is not entered for another', async () => {
  const { agent, urls, paid } = await openShops('in-turn')
  const [first = '', second = ''] = urls

  await execute(agent, attemptOf(await prepare(agent, { resource_url: first })))
  const again = await prepare(agent, { resource_url: second })

  expect(again.body).toMatchObject({ error: 'invalid_challenge' })
  expect(paid()).toBe(1)
})

test('of a challenge that was entered for two chains one is signed', async () => {
  const { agent, urls, paid } = await openShops('at-once')
  const attempts: string[] = []
  for (const resource_url of urls) attempts.push(attemptOf(await prepare(agent, { resource_url })))

  const answers = await Promise.all(attempts.map((attempt) => execute(agent, attempt)))

  expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409])
  expect(paid()).toBe(1)
})
