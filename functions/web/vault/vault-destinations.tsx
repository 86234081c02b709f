/** The page of a login's destinations, where the owner approves the ones that agents ask for and ends others. */
import * as z from 'zod'
import { isRefusal, Rejection } from '../../../shared/contract/errors.ts'
import { time } from '../../../shared/money/row-fields.ts'
import {
  describeDestination,
  destinationRow,
  hasValueInBody,
} from '../../../shared/vault/destinations/destination.ts'
import { isUuid } from '../approvals/approvals-data.ts'
import { goTo, readFormFields, requireOwner } from '../frame.ts'
import { Page, sendPage } from '../layout.tsx'
import { Button, Checkbox, Field, Form } from '../ui/form.tsx'
import { Empty, Facts, Notice, Section, siteName, Time } from '../ui/show.tsx'
import type { PageContext, Routes } from '../visit.ts'
import { vaultOf } from './entry-lines.tsx'
import { findEntry, type OwnerEntry } from './vault-data.ts'

const ownDestinationRow = z.object({
  destination: destinationRow,
  asker: z.string().nullable(),
  asked_at: time,
  approved_at: time.nullable(),
})
type OwnDestination = z.output<typeof ownDestinationRow>

const decidedRow = z.object({ entry: z.uuid() })

/** Routes that show the destinations and take a decision on one. */
export const routes: Routes = (app) => {
  app.get('/vault/:entry{[0-9a-f-]+}/destinations', showDestinations)
  app.get('/vault/:entry{[0-9a-f-]+}/destinations/:destination', showDestinations)
  app.post('/vault/:entry{[0-9a-f-]+}/destinations', lookAtPage)
  app.post('/vault/:entry{[0-9a-f-]+}/destinations/:destination', decideDestination)
}

/** Has the vault look at a page of the site, and shows what it found there. */
async function lookAtPage(c: PageContext): Promise<Response> {
  const { credential } = await requireOwner(c)
  const { listed } = await findEntry(c)
  const path = ((await readFormFields(c)).get('path') ?? '').trim()
  const asked = { credential, entry: listed.credential_id, path }
  const looked = path.startsWith('/') ? await vaultOf(c).lookAt(asked) : { found: 0 }
  if (isRefusal(looked)) throw new Rejection(looked)
  return goTo(c, `${destinationsOf(listed)}${looked.found > 0 ? '' : '?none'}`)
}

async function decideDestination(c: PageContext): Promise<Response> {
  const { db } = await requireOwner(c)
  const form = await readFormFields(c)
  const destination = c.req.param('destination') ?? ''
  const wide = form.get('wide') === 'yes'
  if (isUuid(destination) && form.get('decision') === 'approved') {
    await db.one('owner_approve_destination', { destination, wide }, decidedRow)
  } else if (isUuid(destination) && form.get('decision') === 'ended') {
    await db.one('owner_end_destination', { destination }, decidedRow)
  }
  return goTo(c, `/vault/${c.req.param('entry')}/destinations`)
}

async function showDestinations(c: PageContext) {
  const me = await requireOwner(c)
  const { listed } = await findEntry(c)
  const rows = await me.db.many(
    'owner_list_destinations',
    { entry: listed.credential_id },
    ownDestinationRow,
  )
  const named = c.req.param('destination')
  const shown = rows.filter(({ destination }) => named === undefined || destination.id === named)
  if (named !== undefined && shown.length === 0) return goTo(c, destinationsOf(listed))
  const waiting = shown.filter(({ approved_at }) => approved_at === null)
  const approved = shown.filter(({ approved_at }) => approved_at !== null)
  const ofEntry = (own: OwnDestination) => <DestinationShown c={c} entry={listed} own={own} />
  return sendPage(
    c,
    <Page
      c={c}
      title={`Destinations for ${siteName(listed.site)}`}
      owner={me}
      back={{ to: `/vault/${listed.credential_id}`, label: siteName(listed.site) }}
      lead="Secrets of this login are sent only to destinations that you approved. The site decides what it does with them: approve where it signs you in, never where it stores or shows what it receives. If several fields could be meant, approve the one that you see on the page."
    >
      {(named === undefined || waiting.length > 0) && (
        <Section title="Waiting for you">
          {waiting.length > 0 ? waiting.map(ofEntry) : <Empty>Nothing is waiting for you.</Empty>}
        </Section>
      )}
      {named === undefined && <LookForm c={c} entry={listed} />}
      {(named === undefined || approved.length > 0) && (
        <Section title="Approved">
          {approved.length > 0 ? approved.map(ofEntry) : <Empty>No destination is approved.</Empty>}
        </Section>
      )}
    </Page>,
  )
}

function destinationsOf({ credential_id }: OwnerEntry['listed']): string {
  return `/vault/${credential_id}/destinations`
}

function LookForm({ c, entry }: Omit<Part, 'own'>) {
  return (
    <Section title="Check a sign-in page">
      {c.req.query('none') !== undefined && (
        <Notice kind="warning" title="No password field was found there">
          A form that is drawn by scripts cannot be filled in. Try another page.
        </Notice>
      )}
      <Form c={c} action={destinationsOf(entry)}>
        <Field name="path" label={`Path of the page at ${siteName(entry.site)}`} value="/login" />
        <div class="actions">
          <Button kind="plain">Check the page</Button>
        </div>
      </Form>
    </Section>
  )
}

type Part = { c: PageContext; entry: OwnerEntry['listed']; own: OwnDestination }

function DestinationShown({ c, entry, own }: Part) {
  const { destination, asker, asked_at, approved_at } = own
  return (
    <Form c={c} action={`${destinationsOf(entry)}/${destination.id}`}>
      <Facts
        facts={[
          ['Secret', destination.standing.map(({ secret }) => nameOf(secret)).join(' · ')],
          [
            'Sent by',
            destination.kind === 'form' ? 'A form on a page of the site' : 'The agent itself',
          ],
          ['Destination', <code class="long">{describeDestination(entry.site, destination)}</code>],
          ...(destination.wide ? [['Also', everywhere] as const] : []),
          ['Requested by', asker ?? 'A person'],
          ['Requested', <Time at={asked_at} />],
          ...(approved_at === null ? [] : [['Approved', <Time at={approved_at} />] as const]),
        ]}
      />
      {approved_at === null && !hasValueInBody(destination) && (
        <Checkbox name="wide" label={`Also ${everywhere}`} />
      )}
      <div class="actions">
        {approved_at === null && (
          <Button name="decision" value="approved">
            Approve this destination
          </Button>
        )}
        <Button kind={approved_at === null ? 'plain' : 'danger'} name="decision" value="ended">
          {approved_at === null ? 'Decline' : 'Remove'}
        </Button>
      </div>
    </Form>
  )
}

const everywhere = 'in every other request to this site, whatever it does'

const names: Readonly<Record<string, string>> = {
  password: 'The password',
  username: 'The user name',
  totp: 'The current one-time code',
  mail: 'A one-time code from an email',
}

function nameOf(secret: string): string {
  if (secret.startsWith('fields.')) return `The field ${secret.slice('fields.'.length)}`
  return names[secret] ?? 'An earlier password'
}
