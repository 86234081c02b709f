/** The list of what was made in the account since a time, which the owner reads before it ends. */
import type { AccessChanges } from '../../../shared/auth/end-made.ts'
import { browserName } from '../../../shared/mail/browser-name.ts'
import type { SignIn } from '../own-session.ts'
import { Empty, Section, Table, Time } from '../ui/show.tsx'

type Item = { what: string; name: string; at: string; outcome: string }

/** Name of each kind, and what happens to it. */
const kinds: Record<AccessChanges['made'][number]['kind'], [what: string, outcome: string]> = {
  passkey: ['Passkey', 'Is removed'],
  api_key: ['API key', 'Is revoked'],
  oauth: ['Connected app', 'Is disconnected'],
  push_device: ['Browser that receives notifications', 'Is removed'],
  recovery_codes: ['Recovery codes, made or used', 'Are void'],
  password: ['Password', 'Is replaced by your new one'],
  recipient: ['Known recipient', 'Is forgotten'],
  device: ['Known device', 'Is forgotten'],
  mandate: ['Approved mandate', 'Is revoked'],
  destination: ['Approved destination of a secret', 'Is taken away'],
  widening: ['Gave more room', 'Goes back to what it was'],
  entry: ['Login in the vault', 'Is deleted'],
}

const columns = [
  { label: 'What', cell: ({ what }: Item) => what },
  { label: 'Name', cell: ({ name }: Item) => name },
  { label: 'When', cell: ({ at }: Item) => <Time at={at} /> },
  { label: 'What happens', cell: ({ outcome }: Item) => outcome },
]

/** Lists everything that ends, with the other sessions, which end regardless of when they began. */
export function ChangesSince({
  list,
  signIns,
}: {
  list: AccessChanges
  signIns: readonly SignIn[]
}) {
  const made = list.made.map(({ kind, name, at }) => {
    const [what, outcome] = kinds[kind]
    return { what, name, at, outcome }
  })
  const sessions = signIns
    .filter(({ is_live, is_this }) => is_live && !is_this)
    .map(({ signed_in_at: at, user_agent }) => {
      return { what: 'Session', name: browserName(user_agent), at, outcome: 'Ends' }
    })
  const rows = [...made, ...sessions]
  return (
    <Section title="What ends">
      {rows.length === 0 ? (
        <Empty>Nothing that stands now was made since then.</Empty>
      ) : (
        <Table caption="What was made since then" columns={columns} rows={rows} />
      )}
      <ul class="points">
        {list.left_out > 0 && <li>{list.left_out} more that were made later end as well.</li>}
        <li>Every other session ends, whenever it began, and so does what is made meanwhile.</li>
        <li>
          Payments, mandates and links that wait since then are closed
          {list.waiting > 0 && `, ${list.waiting} payments among them`}.
        </li>
        <li>
          Logins that an older key or app made since are in this list once you end it in this
          session. If one may have leaked, do that first.
        </li>
        <li>
          Limits, caps and permissions that were raised since go back to what they were. If the
          account was frozen before and somebody unfroze it, it is frozen again.
        </li>
        <li>
          Keys that were revoked, recipients and devices that were removed and logins that were
          deleted or changed are not put back. A freeze stays. What was paid is paid.
        </li>
      </ul>
    </Section>
  )
}
