/** Obstacles to closing an account: money, payments on their way, and chains that do not answer. */
import * as z from 'zod'
import { readPosition } from '../../../shared/chains/evm/yield.ts'
import type { Address } from '../../../shared/chains/registry.ts'
import { formatAmount } from '../../../shared/money/amount.ts'
import { usdMicrosOf } from '../../../shared/money/usd.ts'
import { walletRow } from '../../../shared/payments/payment.ts'
import type { World } from '../../../shared/world.ts'
import { yieldVaults } from '../../../shared/yield/registry.ts'
import { readHoldings } from '../overview/holdings.tsx'
import type { Owner } from '../visit.ts'

/** Sentence about one obstacle, and the page on which the owner removes it. */
export type Obstacle = { words: string; to: string; label: string }

const centMicros = 10_000n
const closingRow = z.object({ payments: z.array(z.string()) })

/** Returns all obstacles; none if the account may be closed now. */
export async function readObstacles(world: World, { db }: Owner): Promise<Obstacle[]> {
  const [wallet, closing] = await Promise.all([
    db.one('get_wallet', {}, walletRow),
    db.one('owner_read_closing', {}, closingRow),
  ])
  if (!wallet || !closing) throw new Error('an account has no wallet')
  const [held, invested] = await Promise.all([
    balancesInTheWay(world, wallet.address),
    positionsInTheWay(world, wallet.address),
  ])
  const open = closing.payments.map((payment) => ({
    words: 'A payment is signed and can still settle.',
    to: `/payment/${payment}`,
    label: 'See the payment',
  }))
  return [...held, ...invested, ...open]
}

/** Returns balances of a cent or more; a token without a rate counts from its smallest unit. */
async function balancesInTheWay(world: World, address: Address): Promise<Obstacle[]> {
  const chains = await readHoldings(world, address)
  return chains.flatMap(({ chain, tokens }) => {
    if (!tokens) return [silent(chain.title)]
    const large = tokens.filter(({ token, amountAtomic }) => {
      return (
        amountAtomic > 0n &&
        (usdMicrosOf(token, amountAtomic, world.config) ?? centMicros) >= centMicros
      )
    })
    return large.map(({ token, amountAtomic }) => {
      const amount = `${formatAmount(amountAtomic, token.decimals)} ${token.symbol}`
      return {
        words: `The wallet holds ${amount} on ${chain.title}.`,
        to: '/send',
        label: 'Send it',
      }
    })
  })
}

async function positionsInTheWay(world: World, address: Address): Promise<Obstacle[]> {
  const seen = await Promise.all(
    yieldVaults(world.config).map(async (vault) => {
      const position = await readPosition(world, vault, address)
      if ('log' in position) return silent(vault.name)
      if (position.worthAtomic < centMicros) return []
      return { words: `There is money in ${vault.name}.`, to: '/yield', label: 'See the vault' }
    }),
  )
  return seen.flat()
}

function silent(name: string): Obstacle {
  return {
    words: `${name} is not responding, so we cannot see what is there.`,
    to: '/security/close',
    label: 'Check again',
  }
}
