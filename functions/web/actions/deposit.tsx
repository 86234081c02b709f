/** The page for deposits, on which the owner picks a network and token and sees what arrives. */
import * as z from 'zod'
import { walletRow } from '../../../shared/payments/payment.ts'
import { activityRow } from '../../../shared/payments/show/activity.ts'
import { Items } from '../activity/activity-lines.tsx'
import { requireOwner } from '../frame.ts'
import { Page, sendPage } from '../layout.tsx'
import { Empty, Section } from '../ui/show.tsx'
import { type Owner, type Routes, webAppPath } from '../visit.ts'
import { DepositInstructions, DepositRouteChoice, depositRouteOf } from './deposit-address.tsx'

const shownMax = 5
const refreshSeconds = 10

/** Routes that show the page and say for its script what arrived last. */
export const routes: Routes = (app) => {
  app.get('/deposit', async (c) => {
    const me = await requireOwner(c)
    const [wallet, arrivals] = await Promise.all([
      me.db.one('get_wallet', {}, walletRow),
      lastArrivals(me),
    ])
    const way = depositRouteOf(c.get('world').config, {}, new URL(c.req.url).searchParams)
    if (!wallet || !way) throw new Error('there is no wallet, or no network is connected')
    return sendPage(
      c,
      <Page
        c={c}
        title="Deposit"
        owner={me}
        lead={`${me.account.alias} can spend what you send here, within its limits.`}
        scripts={['copy', 'watch']}
        refreshSeconds={refreshSeconds}
      >
        <DepositRouteChoice way={way} path={c.req.path} />
        <DepositInstructions way={way} address={wallet.address} config={c.get('world').config} />
        <Section title="Recent deposits">
          <div data-watch={`${webAppPath}/deposit/last`} data-seen={newestOf(arrivals)}>
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
  app.get('/deposit/last', async (c) => c.text(newestOf(await lastArrivals(await requireOwner(c)))))
}

type Arrival = z.output<typeof activityRow>

function lastArrivals({ db }: Owner): Promise<Arrival[]> {
  return db.many('list_activity', { page: shownMax, only_category: 'deposit' }, activityRow)
}

/** Returns a text that changes when a deposit arrives, or when the finality of the newest one does. */
function newestOf([newest]: readonly Arrival[]): string {
  return newest ? [newest.id, newest.deposit?.finality].join(' ') : 'none'
}
