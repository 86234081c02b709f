import * as z from 'zod'
import { addressSchema } from '../../../shared/chains/hex.ts'
import { depositItem, depositRow } from '../../../shared/payments/deposit.ts'
import { owner } from '../frame.ts'
import { Page, show } from '../layout.tsx'
import { Choosing, SendTo, wayOf } from '../parts/deposit.tsx'
import { Address, Empty, Money, Section, Table, Time } from '../parts/show.tsx'
import type { Owner, Routes } from '../visit.ts'
import { pagesBelow } from '../visit.ts'

const walletRow = z.object({ address: addressSchema })
const arrivalRow = z.object({ id: z.string(), at: z.string(), deposit: depositRow })
const shownMax = 5
const refreshSeconds = 10

export const routes: Routes = (app) => {
  app.get('/deposit', async (c) => {
    const me = await owner(c)
    const [wallet, arrivals] = await Promise.all([
      me.db.one('get_wallet', {}, walletRow),
      lastArrivals(me),
    ])
    const way = wayOf(c.get('world').config, {}, new URL(c.req.url).searchParams)
    if (!wallet || !way) throw new Error('there is no wallet, or no network is connected')
    return show(
      c,
      <Page
        c={c}
        title="Deposit"
        owner={me}
        lead={`Money sent here is ${me.account.alias}'s to spend, within its limits.`}
        scripts={['copy', 'watch']}
        refreshSeconds={refreshSeconds}
      >
        <Choosing way={way} path={c.req.path} />
        <SendTo way={way} address={wallet.address} />
        <Section title="Arrived last">
          <div data-watch={`${pagesBelow}/deposit/last`} data-seen={newestOf(arrivals)}>
            <Arrivals arrivals={arrivals} />
          </div>
        </Section>
      </Page>,
    )
  })
  app.get('/deposit/last', async (c) => c.text(newestOf(await lastArrivals(await owner(c)))))
}

type Arrival = z.output<typeof arrivalRow>

function lastArrivals({ db }: Owner): Promise<Arrival[]> {
  return db.many('list_activity', { page: shownMax, only_category: 'deposit' }, arrivalRow)
}

/** Changes when something arrives, and when how final the newest is changes. */
function newestOf([newest]: readonly Arrival[]): string {
  return newest ? `${newest.id} ${newest.deposit.finality}` : 'none'
}

function Arrivals({ arrivals }: { arrivals: readonly Arrival[] }) {
  if (arrivals.length === 0) {
    return <Empty>Nothing yet. A deposit shows here within a minute of the transfer.</Empty>
  }
  const rows = arrivals.map(({ at, deposit }) => ({ at, ...depositItem(deposit) }))
  return (
    <Table
      caption="The last deposits, newest first"
      rows={rows}
      columns={[
        { label: 'When', cell: ({ at }) => <Time at={at} /> },
        { label: 'From', cell: ({ from }) => from.alias ?? <Address value={from.address} /> },
        { label: 'State', cell: ({ status }) => status },
        {
          label: 'Amount',
          isNumber: true,
          cell: ({ amount, token }) => <Money amount={amount} unit={token} />,
        },
      ]}
    />
  )
}
