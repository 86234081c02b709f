/**
 * Resolves the names of chains and tokens in a caller's filter. An unknown name is refused, not ignored, so
 * that an answer never looks complete when it is not.
 */
import { fail, type Refusal } from '../contract/errors.ts'
import type { Config } from '../env.ts'
import type { Chain } from './chain.ts'
import { chainNamed, connectedChains } from './registry.ts'

/** Returns the connected chains with these names, each once, or all of them if no names are given. */
export function wantedChains(
  config: Config,
  names: string[] | undefined,
): Chain[] | Refusal<'unsupported_chain'> {
  const connected = connectedChains(config)
  if (!names) return connected
  const wanted = new Set<Chain>()
  for (const name of names) {
    const chain = chainNamed(name)
    if (!chain || !connected.includes(chain)) {
      const available = connected.map(({ caip2 }) => caip2)
      const hint = `Connected are ${connected.map(({ title }) => title).join(', ')}.`
      return fail('unsupported_chain', { details: { chain: name, available }, hint })
    }
    wanted.add(chain)
  }
  return [...wanted]
}

/** Predicate that is true if a token is among those named. The native coin has no address. */
export type IsWanted = (symbol: string, address: string | null) => boolean

/** Returns a predicate for tokens by symbol or address, in any letter case, on these chains. */
export function wantedTokens(
  chains: Chain[],
  names: string[] | undefined,
): IsWanted | Refusal<'unsupported_token'> {
  if (!names) return () => true
  const lower = new Set(names.map((name) => name.toLowerCase()))
  const isWanted: IsWanted = (symbol, address) =>
    lower.has(symbol.toLowerCase()) || (address !== null && lower.has(address.toLowerCase()))
  const known = chains.flatMap(({ native, tokens }) => [
    native.symbol.toLowerCase(),
    ...tokens.flatMap(({ symbol, address }) => [symbol.toLowerCase(), address.toLowerCase()]),
  ])
  const unknown = [...lower].find((name) => !known.includes(name))
  return unknown === undefined
    ? isWanted
    : fail('unsupported_token', { details: { token: unknown } })
}
