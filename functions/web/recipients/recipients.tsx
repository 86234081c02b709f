/** The page of known recipients and devices, on which the owner removes them and looks up new ones. */
import * as z from 'zod'
import { bigintText, time } from '../../../shared/money/row-fields.ts'
import { isUuid } from '../approvals/approvals-data.ts'
import { goTo, readFormFields, requireOwner } from '../frame.ts'
import { Page, sendPage } from '../layout.tsx'
import { Button, Checkbox, Form } from '../ui/form.tsx'
import { Address, Empty, Money, Notice, Section, Table, Time, usdRoundedUp } from '../ui/show.tsx'
import { type Owner, type PageContext, type Routes, returnPathOf } from '../visit.ts'
import { AddForm } from './add-form.tsx'
import { Devices, deviceRow, Remove } from './devices.tsx'

const listedMax = 200

const recipientRow = z.object({
  address: z.string(),
  alias: z.string().nullable(),
  known_since: time,
  payments: z.int(),
  paid_usd_micros: bigintText,
  /** Title of the key or app whose approved request made it known; null if the owner added it. */
  asker: z.string().nullable(),
})

/** Routes that list recipients and devices and remove them. */
export const routes: Routes = (app) => {
  app.get('/recipients', async (c) => {
    const me = await requireOwner(c)
    const page = { listed_max: listedMax }
    const by = c.req.query('asked_by') ?? ''
    const [ended, recipients, devices] = await Promise.all([
      isUuid(by) ? knownBy(me, by) : [],
      me.db.many('owner_list_recipients', page, recipientRow),
      me.db.many('owner_list_devices', page, deviceRow),
    ])
    return sendPage(
      c,
      <Page
        c={c}
        title="Recipients and devices"
        owner={me}
        lead="Who agents may pay without asking, and from which devices. You are asked about everybody else."
        scripts={['copy']}
      >
        {ended.length > 0 && <KnownByEnded c={c} by={by} recipients={ended} />}
        <Recipients c={c} recipients={recipients} />
        <AddForm />
        <Devices c={c} devices={devices} />
      </Page>,
    )
  })

  app.post('/recipients', async (c) => {
    const { db } = await requireOwner(c)
    const form = await readFormFields(c)
    const address = form.get('address')
    const device = z.tuple([z.uuid(), z.string()]).safeParse((form.get('device') ?? '').split(' '))
    const by = form.get('asked_by') ?? ''
    const isSure = form.get('sure') === 'yes'
    if (!isSure && !device.success) return goTo(c, '/recipients', 'unsure')
    if (isUuid(by)) await db.run('owner_forget_known_by', { key: by })
    if (address !== null) await db.run('owner_forget_recipient', { address })
    if (device.success) {
      const [key, fingerprint] = device.data
      await db.run('owner_forget_device', { key, fingerprint })
    }
    return goTo(c, returnPathOf(form.get('back')) || '/recipients', 'removed')
  })
}

/** Lists the recipients that became known by requests of a key or app. */
function knownBy({ db }: Owner, key: string) {
  const question = { listed_max: listedMax, asked_by: key }
  return db.many('owner_list_recipients', question, recipientRow)
}

/** Returns the path after a key or app was ended: the list of its recipients, unless it is empty. */
export async function afterEnding(me: Owner, key: string, otherwise: string): Promise<string> {
  const known = await knownBy(me, key)
  return known.length === 0 ? otherwise : `/recipients?asked_by=${key}`
}

type Recipient = z.output<typeof recipientRow>

/** Lists the recipients that an ended key or app leaves behind, with a button to remove them all. */
function KnownByEnded({
  c,
  by,
  recipients,
}: {
  c: PageContext
  by: string
  recipients: Recipient[]
}) {
  return (
    <Notice kind="warning" title="What you trusted at its request">
      <p>
        You trusted these recipients when approving requests from {recipients[0]?.asker}. Agents may
        still pay them without asking.
      </p>
      <ul>
        {recipients.map(({ alias, address }) => (
          <li>
            {alias} <Address value={address} />
          </li>
        ))}
      </ul>
      <Form c={c}>
        <Checkbox name="sure" label="Agents have to ask again before they pay any of them" />
        <Button kind="danger" name="asked_by" value={by}>
          Remove all of them
        </Button>
      </Form>
    </Notice>
  )
}

function Recipients({ c, recipients }: { c: PageContext; recipients: Recipient[] }) {
  return (
    <Section title="Trusted recipients">
      {recipients.length === 0 ? (
        <Empty>None yet. Add a recipient, or trust one when you approve a payment.</Empty>
      ) : (
        <Table
          caption="Trusted recipients, newest first"
          rows={recipients}
          columns={[
            {
              label: 'Recipient',
              cell: ({ alias, address }) => (
                <div>
                  {alias && (
                    <div>
                      <strong>{alias}</strong>
                    </div>
                  )}
                  <Address value={address} />
                </div>
              ),
            },
            { label: 'Trusted since', cell: ({ known_since }) => <Time at={known_since} /> },
            { label: 'Requested by', cell: ({ asker }) => asker ?? 'You added it' },
            { label: 'Payments', cell: ({ payments }) => payments, isNumber: true },
            {
              label: 'Paid',
              cell: ({ paid_usd_micros }) => (
                <Money amount={usdRoundedUp(paid_usd_micros)} unit="USD" />
              ),
              isNumber: true,
            },
            {
              label: 'Change',
              cell: ({ alias, address }) => (
                <Remove c={c} name="address" value={address} what={alias ?? address} />
              ),
            },
          ]}
        />
      )}
    </Section>
  )
}
