import * as z from 'zod'
import { readBalances } from '../../shared/chains/evm/funds.ts'
import { addressSchema } from '../../shared/chains/hex.ts'
import { chainBody, holdings } from '../../shared/chains/holdings.ts'
import { wantedChains, wantedTokens } from '../../shared/chains/wanted.ts'
import { isRefusal } from '../../shared/contract/errors.ts'
import type { Handler } from '../../shared/http/handler.ts'
import { formatUsd } from '../../shared/money/amount.ts'
import { bigintText } from '../../shared/money/row-fields.ts'
import type { walletBalances } from './contract.ts'

const walletRow = z.object({
  address: addressSchema,
  reserved_usd_micros: bigintText,
})

/** Reads the wanted tokens on all wanted chains at once and answers what is held, reserved and free. */
export const run: Handler<typeof walletBalances> = async (input, { db, world }) => {
  const chains = wantedChains(world.config, input.chains)
  if (isRefusal(chains)) return chains
  const isWanted = wantedTokens(chains, input.tokens)
  if (isRefusal(isWanted)) return isWanted
  const wallet = await db.one('get_wallet', {}, walletRow)
  if (!wallet) throw new Error('an admitted caller has no wallet')
  const { address } = wallet
  const reads = await Promise.all(
    chains.map(async (chain) => {
      const tokens = chain.tokens.filter((token) => isWanted(token.symbol, token.address))
      return { chain, seen: await readBalances(world, chain, { address, tokens }) }
    }),
  )
  const held = reads.flatMap(({ chain, seen }) =>
    seen.status === 'ok' ? holdings(chain, seen, isWanted, world.config) : [],
  )
  const total = held.reduce((sum, { usdMicros }) => sum + (usdMicros ?? 0n), 0n)
  const reserved = wallet.reserved_usd_micros
  return {
    balances: held.map(({ body }) => body),
    chains: reads.map(({ chain, seen }) => chainBody(chain, seen)),
    total_usd: formatUsd(total),
    reserved_usd: formatUsd(reserved),
    available_usd: formatUsd(total > reserved ? total - reserved : 0n),
    ...ignoredHint(Object.keys(input)),
  }
}

const fields = ['chains', 'tokens']
const hintedMax = 8

/** Returns a hint for fields such as `chain` or `tokenIds`, which change nothing and were meant to. */
function ignoredHint(sent: readonly string[]): { hint?: string } {
  const notes = sent.flatMap((name) => {
    const meant = fields.find((field) => name.toLowerCase().includes(field.slice(0, -1)))
    const isMisnamed = meant !== undefined && !fields.includes(name) && /^\w{1,64}$/.test(name)
    return isMisnamed ? [`${name} was ignored: the field is ${meant}, a list.`] : []
  })
  return notes.length === 0 ? {} : { hint: notes.slice(0, hintedMax).join(' ') }
}
