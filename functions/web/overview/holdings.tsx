import type { Chain, Token } from '../../../shared/chains/chain.ts'
import { readBalances } from '../../../shared/chains/evm/funds.ts'
import { type Address, connectedChains } from '../../../shared/chains/registry.ts'
import type { Config } from '../../../shared/env.ts'
import { formatAmount } from '../../../shared/money/amount.ts'
import { usdMicrosOf } from '../../../shared/money/usd.ts'
import type { World } from '../../../shared/world.ts'
import { LinkButton } from '../ui/form.tsx'
import {
  type Column,
  Empty,
  forPeople,
  Notice,
  Section,
  Table,
  usdRoundedDown,
  usdRoundedUp,
} from '../ui/show.tsx'

/** Tokens on one chain; undefined if it did not answer in time. */
export type ChainHoldings = {
  chain: Chain
  tokens: readonly { token: Token; amountAtomic: bigint }[] | undefined
}

/** Reads the balances of every chain that answers within the time that a page may take. */
export function readHoldings(world: World, address: Address): Promise<ChainHoldings[]> {
  return Promise.all(
    connectedChains(world.config).map(async (chain): Promise<ChainHoldings> => {
      const seen = await readBalances(world, chain, { address, tokens: chain.tokens })
      if (seen.status !== 'ok') return { chain, tokens: undefined }
      return { chain, tokens: seen.tokens.filter(({ absent }) => !absent) }
    }),
  )
}

type HoldingsProps = {
  chains: readonly ChainHoldings[]
  reservedUsdMicros: bigint
  config: Config
}

/** Shows the balance: the sum, and each token that is part of it. */
export function Holdings({ chains, reservedUsdMicros, config }: HoldingsProps) {
  const rows = chains.flatMap(({ chain, tokens = [] }) =>
    tokens.map(({ token, amountAtomic }) => {
      return { chain, token, amountAtomic, usdMicros: usdMicrosOf(token, amountAtomic, config) }
    }),
  )
  const total = rows.reduce((sum, { usdMicros = 0n }) => sum + usdMicros, 0n)
  const full = rows.filter(({ amountAtomic }) => amountAtomic > 0n)
  const silent = chains.filter(({ tokens }) => tokens === undefined)
  return (
    <Section title="Balance">
      <p>
        <span class="figure money">
          {usdRoundedDown(total)} <span class="unit">USD</span>
        </span>
        {reservedUsdMicros > 0n && (
          <span class="quiet small below">
            {usdRoundedUp(reservedUsdMicros)} USD of it is held for payments on their way
          </span>
        )}
      </p>
      {silent.length > 0 && <Silent names={silent.map(({ chain }) => chain.title)} />}
      {full.length > 0 && <Table caption="What the account holds" columns={columns} rows={full} />}
      {full.length + silent.length === 0 && <Empty>The account holds nothing yet.</Empty>}
      <div class="actions">
        <LinkButton to="/deposit" kind="main">
          Add money
        </LinkButton>
        {full.length > 0 && <LinkButton to="/send">Send</LinkButton>}
      </div>
    </Section>
  )
}

type Row = {
  chain: Chain
  token: Token
  amountAtomic: bigint
  usdMicros: bigint | undefined
}

const columns: readonly Column<Row>[] = [
  { label: 'Network', cell: ({ chain }) => chain.title },
  {
    label: 'Amount',
    isNumber: true,
    cell: ({ token, amountAtomic }) =>
      `${forPeople(formatAmount(amountAtomic, token.decimals))} ${token.symbol}`,
  },
  {
    label: 'USD',
    isNumber: true,
    cell: ({ usdMicros }) => (usdMicros === undefined ? 'no rate' : usdRoundedDown(usdMicros)),
  },
]

/** Names the chains that did not answer: the sum must not look complete when it is not. */
function Silent({ names }: { names: readonly string[] }) {
  return (
    <Notice kind="warning">
      {names.join(' and ')} did not answer in time, so what is held there is not counted. Nothing is
      lost: open the page again in a moment.
    </Notice>
  )
}
