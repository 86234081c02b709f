/** How money gets into the account: which network and token, and the address to send it to. */
import type { Child } from 'hono/jsx'
import type { Chain, Token } from '../../../shared/chains/registry.ts'
import { connectedChains } from '../../../shared/chains/registry.ts'
import type { Config } from '../../../shared/env.ts'
import type { askedSchema } from '../../../shared/hosted/action.ts'
import { parseAmount } from '../../../shared/money/amount.ts'
import { Qr } from './qr.tsx'
import { Address, Facts, Money, Notice, Section } from './show.tsx'

export type Asked = typeof askedSchema._output
/** One network and one token of it, and the others that could be chosen. */
export type Way = { chain: Chain; token: Token; amount?: string; others: Choice[] }
type Choice = { chain: Chain; token: Token }

/** What the visitor chose by a link of the page, within what the agent asked for. */
export function wayOf(config: Config, asked: Asked, chosen: URLSearchParams): Way | undefined {
  const choices = connectedChains(config)
    .filter(({ caip2 }) => asked.chain === undefined || caip2 === asked.chain)
    .flatMap((chain) => chain.tokens.map((token) => ({ chain, token })))
    .filter(({ token }) => asked.token === undefined || token.symbol === asked.token)
  const named = choices.find(
    ({ chain, token }) =>
      chain.name === chosen.get('network') && token.symbol === chosen.get('token'),
  )
  const way = named ?? choices[0]
  return way && { ...way, others: choices, ...(asked.amount ? { amount: asked.amount } : {}) }
}

/** Links to every network and token that money may come in by. */
export function Choosing({ way, path }: { way: Way; path: string }) {
  if (way.others.length < 2) return null
  return (
    <nav class="choices" aria-label="Network and token">
      <ul>
        {way.others.map(({ chain, token }) => (
          <li>
            <a
              href={`${path}?network=${chain.name}&token=${token.symbol}`}
              aria-current={chain === way.chain && token === way.token ? 'true' : undefined}
            >
              {token.symbol} on {chain.title}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  )
}

/** The address as text and as a code, and what would be lost. */
export function SendTo({ way, address }: { way: Way; address: string }) {
  const { chain, token } = way
  const what = `${token.symbol} on ${chain.title}`
  return (
    <>
      <Section title={what}>
        <div class="send-to">
          <Qr text={paymentUri(way, address)} label={`Code for sending ${what} to ${address}`} />
          <Facts facts={factsOf(way, address)} />
        </div>
      </Section>
      <Notice kind="warning" title={`Send only ${what}`}>
        <p>
          Choose {chain.title} as the network where you send from. What is sent on another network,
          or as another token, does not arrive here and may be lost.
        </p>
      </Notice>
    </>
  )
}

function factsOf({ chain, token, amount }: Way, address: string): (readonly [string, Child])[] {
  const fixed = [
    ['Network', networkTitle(chain)],
    ['Token', token.symbol],
    ['Address', <Address value={address} />],
  ] as const
  if (amount === undefined) return [...fixed]
  return [['Amount', <Money amount={amount} unit={token.symbol} />], ...fixed]
}

/** Money of a test network is worth nothing, and whoever sends has to know. */
export function networkTitle({ title, testnet }: Chain): string {
  return testnet ? `${title} (a test network)` : title
}

/** ERC-681 where an amount is asked for; else the bare address, which every wallet reads. */
function paymentUri({ chain, token, amount }: Way, address: string): string {
  const atomic = amount === undefined ? undefined : parseAmount(amount, token.decimals)
  if (atomic === undefined) return address
  return `ethereum:${token.address}@${chain.id}/transfer?address=${address}&uint256=${atomic}`
}
