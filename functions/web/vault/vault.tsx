/** The page of the vault, in which the owner searches the stored logins. */
import * as z from 'zod'
import { requireOwner } from '../frame.ts'
import { Page, sendPage } from '../layout.tsx'
import { Button, Field, LinkButton } from '../ui/form.tsx'
import { Empty, Pager, Section, Site, Table, Time } from '../ui/show.tsx'
import { type PageContext, type Routes, webAppPath } from '../visit.ts'
import { Holds, Maker } from './entry-lines.tsx'
import { usernameShown } from './login-fields.tsx'
import { type OwnerEntry, ownerEntryRow } from './vault-data.ts'

const pageSize = 25

// A malformed query is not an error, because people edit addresses: its parts are ignored.
const asked = z.object({
  q: z
    .string()
    .max(200)
    .transform((words) => words.replaceAll('\0', '').trim())
    .catch(''),
  before: z
    .string()
    .regex(/^[0-9]{1,15}$/)
    .optional()
    .catch(undefined),
})

/** Routes that list the logins. */
export const routes: Routes = (app) => {
  app.get('/vault', showVault)
}

async function showVault(c: PageContext) {
  const me = await requireOwner(c)
  const { q, before } = asked.parse(c.req.query())
  const question = {
    page: pageSize + 1,
    words: q,
    ...(before === undefined ? {} : { before: Number(before) }),
  }
  const rows = await me.db.many('owner_list_entries', question, ownerEntryRow)
  const shown = rows.slice(0, pageSize)
  const last = rows.length > pageSize ? shown.at(-1) : undefined
  const pageFrom = (position?: string) => {
    const query = new URLSearchParams({ ...(q && { q }), ...(position && { before: position }) })
    return `${webAppPath}/vault?${query.toString()}`
  }
  return sendPage(
    c,
    <Page
      c={c}
      title="Vault"
      owner={me}
      lead="Logins that your agents use without seeing them, unless you let a key read them. A secret is sent only to its own site."
      action={
        <LinkButton to="/vault/new" kind="main">
          Add a login
        </LinkButton>
      }
    >
      <form method="get" action={`${webAppPath}/vault`} class="row" role="search">
        <Field name="q" label="Site or user name" type="search" value={q} maxlength={200} />
        <Button kind="plain">Show</Button>
      </form>
      <Section title={q === '' ? 'All' : 'Results'}>
        {shown.length > 0 ? <Entries rows={shown} /> : <Empty>{q === '' ? none : noMatch}</Empty>}
      </Section>
      <Pager newest={before && pageFrom()} older={last && pageFrom(last.number)} />
    </Page>,
  )
}

const none =
  'There is no login yet. Add one, or let your agent ask for one: it sends you a link to enter it.'
const noMatch = 'Nothing matches. Try part of the site name.'

function Entries({ rows }: { rows: readonly OwnerEntry[] }) {
  return (
    <Table
      caption="Logins, newest first"
      rows={rows}
      columns={[
        { label: 'Site', cell: ({ listed }) => <Site origin={listed.site} /> },
        { label: 'User name', cell: ({ listed }) => usernameShown(listed) || 'None' },
        { label: 'Holds', cell: ({ listed }) => <Holds entry={listed} /> },
        { label: 'Added by', cell: (row) => <Maker entry={row} /> },
        {
          label: 'Last used',
          cell: ({ listed: { last_used_at: at } }) => (at === null ? 'Never' : <Time at={at} />),
        },
        {
          label: 'More',
          cell: ({ listed }) => <LinkButton to={`/vault/${listed.credential_id}`}>View</LinkButton>,
        },
      ]}
    />
  )
}
