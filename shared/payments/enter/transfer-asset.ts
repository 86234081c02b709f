/**
 * Finds the asset of a transfer. Chain and token can be left out where there is one possibility, or where the
 * wallet holds one of them; the chains are asked only if more than one is possible.
 */
import { readBalances } from '../../chains/evm/balances.ts'
import type { Chain, Token } from '../../chains/registry.ts'
import { tokenNamed } from '../../chains/registry.ts'
import { wantedChains } from '../../chains/wanted.ts'
import type { Refusal } from '../../contract/errors.ts'
import { fail, isRefusal } from '../../contract/errors.ts'
import type { Context } from '../../http/handler.ts'
import { usdMicrosOf } from '../../money/usd.ts'
import { walletRow } from '../wallet-row.ts'

/** Token on its chain. */
export type Asset = { chain: Chain; token: Token }

type Refused = Refusal<'unsupported_chain' | 'unsupported_token' | 'invalid_request'>

/** Returns the asset with this chain and token, or the only one that the wallet holds. */
export async function findAsset(
  context: Context,
  wish: { chain?: string | undefined; token?: string | undefined },
): Promise<Asset | Refused> {
  const { config } = context.world
  const chains = wantedChains(config, wish.chain === undefined ? undefined : [wish.chain])
  if (isRefusal(chains)) return chains
  const named = chains.flatMap((chain) =>
    tokensNamed(chain, wish.token).map((token) => ({ chain, token })),
  )
  const [first] = named
  if (!first) {
    const available = [...new Set(chains.flatMap(({ tokens }) => tokens.map((one) => one.symbol)))]
    return fail('unsupported_token', { details: { available } })
  }
  const payable = named.filter(({ token }) => usdMicrosOf(token, 1n, config) !== undefined)
  if (payable.length < 2) return payable[0] ?? first
  const held = await assetsHeld(context, payable)
  const [only, ...others] = held
  return only && others.length === 0 ? only : ambiguous(only ? held : payable)
}

function tokensNamed(chain: Chain, name: string | undefined): readonly Token[] {
  if (name === undefined) return chain.tokens
  const token = tokenNamed(chain, name)
  return token ? [token] : []
}

/** Returns the assets that the wallet holds, or may hold on a chain that does not answer. */
async function assetsHeld({ db, world }: Context, assets: readonly Asset[]): Promise<Asset[]> {
  await db.run('check_admission', { needed: 'pay' })
  const wallet = await db.one('get_wallet', {}, walletRow)
  if (!wallet) throw new Error('an admitted caller has no wallet')
  const held = await Promise.all(
    [...new Set(assets.map(({ chain }) => chain))].map(async (chain) => {
      const here = assets.filter((asset) => asset.chain === chain)
      const tokens = here.map(({ token }) => token)
      const seen = await readBalances(world, chain, { address: wallet.address, tokens })
      return here.filter((_, at) => seen.status !== 'ok' || seen.tokens[at]?.amountAtomic !== 0n)
    }),
  )
  return held.flat()
}

function ambiguous(assets: readonly Asset[]): Refused {
  const choices = assets.map(({ chain, token }) => ({ chain: chain.caip2, token: token.symbol }))
  const listed = assets.map(({ chain, token }) => `${token.symbol} on ${chain.title}`).join(', ')
  return fail('invalid_request', {
    message: `Name chain and token; several are possible: ${listed}.`,
    details: { choices },
  })
}
