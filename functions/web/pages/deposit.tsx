import * as z from 'zod'
import { addressSchema } from '../../../shared/chains/hex.ts'
import { activityRow } from '../../../shared/payments/activity.ts'
import { owner } from '../frame.ts'
import { Page, show } from '../layout.tsx'
import { Choosing, SendTo, wayOf } from '../parts/deposit.tsx'
import { Items } from '../parts/items.tsx'
import { Empty, Section } from '../parts/show.tsx'
import type { Owner, Routes } from '../visit.ts'
import { pagesBelow } from '../visit.ts'

const walletRow = z.object({ address: addressSchema })
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
            {arrivals.length === 0 ? (
              <Empty>Nothing yet. A deposit shows here within a minute of the transfer.</Empty>
            ) : (
              <Items rows={arrivals} />
            )}
          </div>
        </Section>
      </Page>,
    )
  })
  app.get('/deposit/last', async (c) => c.text(newestOf(await lastArrivals(await owner(c)))))
}

type Arrival = z.output<typeof activityRow>

function lastArrivals({ db }: Owner): Promise<Arrival[]> {
  return db.many('list_activity', { page: shownMax, only_category: 'deposit' }, activityRow)
}

/** Changes when something arrives, and when how final the newest is changes. */
function newestOf([newest]: readonly Arrival[]): string {
  return newest ? [newest.id, newest.deposit?.finality].join(' ') : 'none'
}
