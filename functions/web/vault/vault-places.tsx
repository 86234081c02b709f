/** The page of a login's places, where the owner approves the ones that agents ask for and ends others. */
import * as z from 'zod'
import { isRefusal, Rejection } from '../../../shared/contract/errors.ts'
import { time } from '../../../shared/db/row-fields.ts'
import { describePlace, hasValueInBody, placeRow } from '../../../shared/vault/places/place.ts'
import { isUuid } from '../approvals/approvals-data.ts'
import { goTo, readFormFields, requireOwner } from '../frame.ts'
import { Page, sendPage } from '../layout.tsx'
import { Button, Checkbox, Field, Form } from '../ui/form.tsx'
import { Empty, Facts, Notice, Section, Time } from '../ui/show.tsx'
import { siteName } from '../ui/site.tsx'
import type { PageContext, Routes } from '../visit.ts'
import type { OwnerEntry } from './vault-data.ts'
import { findEntry } from './vault-data.ts'
import { vaultOf } from './vault-port.ts'

const ownPlaceRow = z.object({
  place: placeRow,
  asker: z.string().nullable(),
  asked_at: time,
  approved_at: time.nullable(),
})
type OwnPlace = z.output<typeof ownPlaceRow>

const decidedRow = z.object({ entry: z.uuid() })

/** Routes that show the places and take a decision on one. */
export const routes: Routes = (app) => {
  app.get('/vault/:entry{[0-9a-f-]+}/places', showPlaces)
  app.get('/vault/:entry{[0-9a-f-]+}/places/:place', showPlaces)
  app.post('/vault/:entry{[0-9a-f-]+}/places', look)
  app.post('/vault/:entry{[0-9a-f-]+}/places/:place', decide)
}

/** Has the vault look at a page of the site, and shows what it found there. */
async function look(c: PageContext): Promise<Response> {
  const { credential } = await requireOwner(c)
  const { listed } = await findEntry(c)
  const path = ((await readFormFields(c)).get('path') ?? '').trim()
  const asked = { credential, entry: listed.credential_id, path }
  const looked = path.startsWith('/') ? await vaultOf(c).lookAt(asked) : { found: 0 }
  if (isRefusal(looked)) throw new Rejection(looked)
  return goTo(c, `${placesOf(listed)}${looked.found > 0 ? '' : '?none'}`)
}

async function decide(c: PageContext): Promise<Response> {
  const { db } = await requireOwner(c)
  const form = await readFormFields(c)
  const place = c.req.param('place') ?? ''
  const wide = form.get('wide') === 'yes'
  if (isUuid(place) && form.get('decision') === 'approved') {
    await db.one('owner_approve_place', { place, wide }, decidedRow)
  } else if (isUuid(place) && form.get('decision') === 'ended') {
    await db.one('owner_end_place', { place }, decidedRow)
  }
  return goTo(c, `/vault/${c.req.param('entry')}/places`)
}

async function showPlaces(c: PageContext) {
  const me = await requireOwner(c)
  const { listed } = await findEntry(c)
  const rows = await me.db.many('owner_list_places', { entry: listed.credential_id }, ownPlaceRow)
  const named = c.req.param('place')
  const shown = rows.filter(({ place }) => named === undefined || place.id === named)
  if (named !== undefined && shown.length === 0) return goTo(c, placesOf(listed))
  const waiting = shown.filter(({ approved_at }) => approved_at === null)
  const approved = shown.filter(({ approved_at }) => approved_at !== null)
  const ofEntry = (own: OwnPlace) => <PlaceShown c={c} entry={listed} own={own} />
  return sendPage(
    c,
    <Page
      c={c}
      title={`Places for ${siteName(listed.site)}`}
      owner={me}
      back={{ to: `/vault/${listed.credential_id}`, label: siteName(listed.site) }}
      lead="A secret of this login is sent only where you approved that. What the site does with it there, the site decides: approve where it signs in, never where it keeps or shows what it is told. Where several fields could be meant, approve the one that you see on the page."
    >
      {(named === undefined || waiting.length > 0) && (
        <Section title="Waiting for you">
          {waiting.length > 0 ? waiting.map(ofEntry) : <Empty>Nothing waits for you.</Empty>}
        </Section>
      )}
      {named === undefined && <LookForm c={c} entry={listed} />}
      {(named === undefined || approved.length > 0) && (
        <Section title="Approved">
          {approved.length > 0 ? approved.map(ofEntry) : <Empty>No place is approved.</Empty>}
        </Section>
      )}
    </Page>,
  )
}

function placesOf({ credential_id }: OwnerEntry['listed']): string {
  return `/vault/${credential_id}/places`
}

function LookForm({ c, entry }: Omit<Part, 'own'>) {
  return (
    <Section title="Look at a sign-in page">
      {c.req.query('none') !== undefined && (
        <Notice kind="warning" title="No field for a password was found there">
          A form that scripts draw cannot be filled in. Try the address of another page.
        </Notice>
      )}
      <Form c={c} action={placesOf(entry)}>
        <Field name="path" label={`Path of the page at ${siteName(entry.site)}`} value="/login" />
        <div class="actions">
          <Button kind="plain">Look at it</Button>
        </div>
      </Form>
    </Section>
  )
}

type Part = { c: PageContext; entry: OwnerEntry['listed']; own: OwnPlace }

function PlaceShown({ c, entry, own }: Part) {
  const { place, asker, asked_at, approved_at } = own
  return (
    <Form c={c} action={`${placesOf(entry)}/${place.id}`}>
      <Facts
        facts={[
          ['Secret', place.standing.map(({ secret }) => nameOf(secret)).join(' · ')],
          ['Sent by', place.kind === 'form' ? 'A form on a page of the site' : 'The agent itself'],
          ['Place', <code class="long">{describePlace(entry.site, place)}</code>],
          ...(place.wide ? [['Also', everywhere] as const] : []),
          ['Asked by', asker ?? 'A person'],
          ['Asked', <Time at={asked_at} />],
          ...(approved_at === null ? [] : [['Approved', <Time at={approved_at} />] as const]),
        ]}
      />
      {approved_at === null && !hasValueInBody(place) && (
        <Checkbox name="wide" label={`Also ${everywhere}`} />
      )}
      <div class="actions">
        {approved_at === null && (
          <Button name="decision" value="approved">
            Approve this place
          </Button>
        )}
        <Button kind={approved_at === null ? 'plain' : 'danger'} name="decision" value="ended">
          {approved_at === null ? 'Decline' : 'Take it away'}
        </Button>
      </div>
    </Form>
  )
}

const everywhere = 'in every other request to this site, whatever it does'

const names: Readonly<Record<string, string>> = {
  password: 'The password',
  username: 'The user name',
  totp: 'The one-time code of the moment',
  mail: 'A one-time code of a mail',
}

function nameOf(secret: string): string {
  if (secret.startsWith('fields.')) return `The field ${secret.slice('fields.'.length)}`
  return names[secret] ?? 'An earlier password'
}
