import type { Chain, Token } from '../../../shared/chains/chain.ts'
import type { Config } from '../../../shared/env.ts'
import { formatAmount } from '../../../shared/money/amount.ts'
import { usdMicrosOf } from '../../../shared/money/usd.ts'
import { forPeople, heldUsd, spentUsd } from './amounts.ts'
import { Empty, Notice, Section, Table } from './show.tsx'

/** One chain's tokens, or undefined where it did not answer in time. */
export type ChainHoldings = {
  chain: Chain
  tokens: readonly { token: Token; amountAtomic: bigint }[] | undefined
}

/** What the account holds: the sum, and what it is made of. */
export function Holdings({
  chains,
  reservedUsdMicros,
  config,
}: {
  chains: readonly ChainHoldings[]
  reservedUsdMicros: bigint
  config: Config
}) {
  const rows = chains.flatMap(({ chain, tokens = [] }) =>
    tokens.map((held) => ({
      chain,
      ...held,
      usdMicros: usdMicrosOf(held.token, held.amountAtomic, config),
    })),
  )
  const total = rows.reduce((sum, { usdMicros = 0n }) => sum + usdMicros, 0n)
  const full = rows.filter(({ amountAtomic }) => amountAtomic > 0n)
  const silent = chains.filter(({ tokens }) => tokens === undefined)
  return (
    <Section title="Balance">
      <p>
        <span class="figure money">
          {heldUsd(total)} <span class="unit">USD</span>
        </span>
        {reservedUsdMicros > 0n && (
          <span class="quiet small below">
            {spentUsd(reservedUsdMicros)} USD of it is promised to payments on their way
          </span>
        )}
      </p>
      {silent.length > 0 && (
        <Notice kind="warning">
          {silent.map(({ chain }) => chain.title).join(' and ')} did not answer in time, so what is
          held there is not counted. Nothing is lost: open the page again in a moment.
        </Notice>
      )}
      {full.length > 0 ? (
        <Table
          caption="What the account holds"
          columns={[
            { label: 'Chain', cell: ({ chain }) => chain.title },
            {
              label: 'Amount',
              isNumber: true,
              cell: ({ token, amountAtomic }) =>
                `${forPeople(formatAmount(amountAtomic, token.decimals))} ${token.symbol}`,
            },
            {
              label: 'USD',
              isNumber: true,
              cell: ({ usdMicros }) => (usdMicros === undefined ? 'no rate' : heldUsd(usdMicros)),
            },
          ]}
          rows={full}
        />
      ) : (
        silent.length === 0 && <Empty>The account holds nothing yet.</Empty>
      )}
    </Section>
  )
}
