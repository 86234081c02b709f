/** The transfers that relayers still send for the account on each chain. */
import type * as z from 'zod'
import type { Chain } from '../../../shared/chains/chain.ts'
import { relayedBody } from '../../../shared/payments/decide/limit-words.ts'
import type { relayedRows } from '../../../shared/payments/payment-with-facts.ts'
import { Section, Time } from '../ui/show.tsx'

type Rows = z.output<typeof relayedRows>

/** Shows what is left on each chain. */
export function Relayed({ rows, chains }: { rows: Rows; chains: readonly Chain[] }) {
  if (rows.length === 0) return null
  return (
    <Section title="Gas that is paid for you">
      <p>
        The service pays for the gas of so many transfers in 24 hours. After that, the wallet pays
        with its own coin.
      </p>
      <ul>
        {rows.map((row) => (
          <Left row={row} chain={chains.find(({ id }) => id === row.chain)} />
        ))}
      </ul>
    </Section>
  )
}

function Left({ row, chain }: { row: Rows[number]; chain: Chain | undefined }) {
  if (!chain) return null
  const body = relayedBody(row, chain)
  return (
    <li>
      {chain.title}: {body.calls_left} of {body.calls_per_day} transfers left today, from{' '}
      {body.least_usd} USD
      {body.resets_at !== null && (
        <>
          ; more at <Time at={body.resets_at} />
        </>
      )}
    </li>
  )
}
