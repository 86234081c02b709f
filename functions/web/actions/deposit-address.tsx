/** Deposits: the choice of network and token, and the address to send to. */
import type { Child } from 'hono/jsx'
import { type Chain, connectedChains, type Token } from '../../../shared/chains/registry.ts'
import type { Config } from '../../../shared/env.ts'
import type { actionRequestSchema } from '../../../shared/hosted/action.ts'
import { parseAmount } from '../../../shared/money/amount.ts'
import { Qr } from '../ui/passkey.tsx'
import { Address, Facts, Money, Notice, Section } from '../ui/show.tsx'

/** Chain, token and amount that the agent asked for. */
export type RequestedDeposit = typeof actionRequestSchema._output
/** Chosen network and token, and the others that can be chosen. */
export type DepositRoute = { chain: Chain; token: Token; amount?: string; others: Choice[] }
type Choice = { chain: Chain; token: Token }

/** Returns the network and token that a link of the page chose, among those that the agent asked for. */
export function depositRouteOf(
  config: Config,
  asked: RequestedDeposit,
  chosen: URLSearchParams,
): DepositRoute | undefined {
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

/** Links to every network and token by which money can come in. */
export function DepositRouteChoice({ way, path }: { way: DepositRoute; path: string }) {
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

/** Shows the address as text and QR code, and what else it takes and does not take. */
export function DepositInstructions({
  way,
  address,
  config,
}: {
  way: DepositRoute
  address: string
  config: Config
}) {
  const { chain, token } = way
  const what = `${token.symbol} on ${chain.title}`
  return (
    <>
      <Section title={what}>
        <div class="send-to">
          <Qr text={paymentUri(way, address)} label={`Code for sending ${what} to ${address}`} />
          <Facts facts={depositFacts(way, address)} />
        </div>
      </Section>
      <Notice kind="warning" title="Send on this network only">
        <p>
          This address accepts {takenWords(connectedChains(config))}. Any other token, or any token
          on another network, may reach the address, but this service cannot move it.
        </p>
      </Notice>
    </>
  )
}

/** Names each token with the networks on which the address takes it. */
function takenWords(chains: readonly Chain[]): string {
  const words = chains.map(({ title, tokens }) => {
    const symbols = tokens.map(({ symbol }) => symbol)
    return `${symbols.join(' and ')} on ${title}`
  })
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')}, and ${words.at(-1)}`
}

function depositFacts(
  { chain, token, amount }: DepositRoute,
  address: string,
): (readonly [string, Child])[] {
  const fixed = [
    ['Network', networkTitle(chain)],
    ['Token', token.symbol],
    ['Address', <Address value={address} />],
  ] as const
  if (amount === undefined) return [...fixed]
  return [['Amount', <Money amount={amount} unit={token.symbol} />], ...fixed]
}

/** Returns the title of a chain and says if it is a test network, whose money is worth nothing. */
export function networkTitle({ title, testnet }: Chain): string {
  return testnet ? `${title} (a test network)` : title
}

/** Returns an ERC-681 URI if an amount is asked for, else the bare address, which every wallet reads. */
function paymentUri({ chain, token, amount }: DepositRoute, address: string): string {
  const atomic = amount === undefined ? undefined : parseAmount(amount, token.decimals)
  if (atomic === undefined) return address
  return `ethereum:${token.address}@${chain.id}/transfer?address=${address}&uint256=${atomic}`
}
