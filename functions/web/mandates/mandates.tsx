/** The page of all mandates, from which the owner opens one to decide on it or to read it. */
import type { MandateRow } from '../../../shared/mandates/mandate-row.ts'
import { requireOwner } from '../frame.ts'
import { Page, sendPage } from '../layout.tsx'
import { LinkButton } from '../ui/form.tsx'
import { Empty, Merchant, Pager, Section, Table, Time } from '../ui/show.tsx'
import { type Routes, webAppPath } from '../visit.ts'
import { Cap, MandateState } from './mandate-terms.tsx'
import { listedRow } from './mandates-data.ts'

const pageSize = 25
/** Number of mandates that can wait at once. */
const waitingMax = 20
/** Number of mandates listed first for each status that can pay, so that requests cannot bury them. */
const livePerStatusMax = 50

/** Routes that list the mandates. */
export const routes: Routes = (app) => {
  app.get('/mandates', async (c) => {
    const me = await requireOwner(c)
    const asked = c.req.query('before') ?? ''
    const before = /^[0-9]{1,15}$/.test(asked) ? Number(asked) : null
    const [waiting, active, suspended, rows] = await Promise.all([
      me.db.many('list_mandates', { page: waitingMax, status: 'pending_approval' }, listedRow),
      me.db.many('list_mandates', { page: livePerStatusMax, status: 'active' }, listedRow),
      me.db.many('list_mandates', { page: livePerStatusMax, status: 'suspended' }, listedRow),
      me.db.many('list_mandates', { page: pageSize + 1, before }, listedRow),
    ])
    const live = [...active, ...suspended]
    const shown = rows.slice(0, pageSize)
    const last = rows.length > pageSize ? shown.at(-1)?.mandate_row : undefined
    const above = new Set([...waiting, ...live].map(({ mandate_row }) => mandate_row.id))
    const others = shown.filter(({ mandate_row }) => !above.has(mandate_row.id))
    return sendPage(
      c,
      <Page
        c={c}
        title="Mandates"
        owner={me}
        lead="A mandate lets an agent pay one merchant without asking each time, within limits that you set."
        action={
          <LinkButton to="/mandates/new" kind="main">
            Create a mandate
          </LinkButton>
        }
      >
        <Listed title="Waiting for you" rows={waiting} way="Review" />
        <Listed title="Active" rows={live} way="View" />
        <Listed title="Ended" rows={others} way="View" />
        {above.size + others.length === 0 && (
          <Empty>No mandates yet. Create one, or let your agent ask for one.</Empty>
        )}
        <Pager
          newest={before === null ? undefined : `${webAppPath}/mandates`}
          older={last && `${webAppPath}/mandates?before=${last.number}`}
        />
      </Page>,
    )
  })
}

type Rows = readonly { mandate_row: MandateRow }[]

function Listed({ title, rows, way }: { title: string; rows: Rows; way: string }) {
  if (rows.length === 0) return null
  return (
    <Section title={title}>
      <Mandates rows={rows} caption={`${title}, newest first`} way={way} />
    </Section>
  )
}

function Mandates({ rows, caption, way }: { rows: Rows; caption: string; way: string }) {
  return (
    <Table
      caption={caption}
      rows={rows.map(({ mandate_row }) => mandate_row)}
      columns={[
        { label: 'Merchant', cell: ({ merchant_domain }) => <Merchant domain={merchant_domain} /> },
        { label: 'State', cell: ({ status }) => <MandateState status={status} /> },
        {
          label: 'Each payment',
          cell: ({ max_payment_usd_micros: usdMicros }) => <Cap usdMicros={usdMicros} />,
          isNumber: true,
        },
        {
          label: 'Spent',
          cell: ({ spent_total_usd_micros: usdMicros }) => <Cap usdMicros={usdMicros} />,
          isNumber: true,
        },
        { label: 'Ends', cell: ({ expires_at }) => <Time at={expires_at} /> },
        { label: 'More', cell: ({ id }) => <LinkButton to={`/mandate/${id}`}>{way}</LinkButton> },
      ]}
    />
  )
}
