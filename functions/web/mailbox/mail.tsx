/** The page of the mailbox, in which the owner finds and deletes mail and lets agents read codes. */
import * as z from 'zod'
import { codesReadable } from '../../../shared/mail/access-messages.ts'
import { goTo, readFormFields, requireOwner } from '../frame.ts'
import { Page, sendPage } from '../layout.tsx'
import { sealOwnerNotice } from '../session.ts'
import { Button, Checkbox, Field, Form, Select } from '../ui/form.tsx'
import { Empty, Pager, Section } from '../ui/show.tsx'
import { type PageContext, type Routes, webAppPath } from '../visit.ts'
import { listOwnerMails, type MailQuery, Mails } from './mail-lines.tsx'

const showsRow = z.object({ shows_codes: z.boolean() })

/** Routes that list mails, set if agents see codes, and delete old mails. */
export const routes: Routes = (app) => {
  app.get('/mail', showMail)
  app.post('/mail/codes', async (c) => {
    const { db } = await requireOwner(c)
    const shows = (await readFormFields(c)).get('wanted') === 'shown'
    const mail = shows ? await sealOwnerNotice(c, codesReadable) : null
    await db.run('owner_set_shows_codes', { shows, mail })
    return goTo(c, '/mail')
  })
  app.post('/mail/deleted', async (c) => {
    const { db } = await requireOwner(c)
    const form = await readFormFields(c)
    const days = Number(ages.find(({ value }) => value === form.get('days'))?.value)
    if (form.get('sure') === 'yes' && days > 0) await db.run('owner_delete_mails', { days })
    return goTo(c, '/mail')
  })
}

/** Ages from which on mails can be deleted. */
const ages = ['30', '90', '365'].map((value) => ({ value, label: `${value} days` }))

async function showMail(c: PageContext) {
  const me = await requireOwner(c)
  const [{ query, mails, next_cursor: next }, set] = await Promise.all([
    listOwnerMails(c),
    me.db.one('owner_read_shows_codes', {}, showsRow),
  ])
  const isNarrowed = Object.values(query).some((value) => value !== undefined)
  return sendPage(
    c,
    <Page
      c={c}
      title="Mail"
      owner={me}
      lead={
        <>
          Mail to and from <strong>{me.account.mailAddress}</strong>, as it is.
        </>
      }
    >
      <MailFilter query={query} />
      <Section title={isNarrowed ? 'Results' : 'All'}>
        {mails.length > 0 ? (
          <Mails mails={mails} />
        ) : (
          <Empty>{isNarrowed ? 'Nothing matches.' : 'No mail has come in or gone out yet.'}</Empty>
        )}
      </Section>
      <Pager
        newest={query.before && mailListAddress({ ...query, before: undefined })}
        older={next === null ? undefined : mailListAddress({ ...query, before: next })}
      />
      <CodesForm c={c} shows={set?.shows_codes === true} />
      <RoomForm c={c} />
    </Page>,
  )
}

function mailListAddress(query: MailQuery): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) if (value) search.set(name, value)
  return `${webAppPath}/mail?${search.toString()}`
}

function MailFilter({ query }: { query: MailQuery }) {
  return (
    <form method="get" action={`${webAppPath}/mail`} class="row" role="search">
      <Field
        name="from"
        label="Sender"
        type="search"
        value={query.from ?? ''}
        maxlength={254}
        placeholder="address or domain"
      />
      <Select
        name="direction"
        label="Direction"
        choices={[
          { value: '', label: 'In and out' },
          { value: 'in', label: 'In' },
          { value: 'out', label: 'Out' },
        ]}
        chosen={query.direction ?? ''}
      />
      <Checkbox name="unread" label="Not read by an agent" checked={query.unread === 'yes'} />
      <Button kind="plain">Show</Button>
    </form>
  )
}

function CodesForm({ c, shows }: { c: PageContext; shows: boolean }) {
  return (
    <Section title="Codes and sign-in links">
      <p>
        {shows
          ? 'Agents can read them. Whatever an agent reads can end up with others.'
          : 'Agents can use each one once, at the site that sent it, and never see it. This is the safe setting.'}
      </p>
      <Form c={c} action="/mail/codes">
        <div class="actions">
          <Button
            kind={shows ? 'plain' : 'danger'}
            name="wanted"
            value={shows ? 'sealed' : 'shown'}
          >
            {shows ? 'Stop letting agents read them' : 'Let agents read them'}
          </Button>
        </div>
      </Form>
    </Section>
  )
}

function RoomForm({ c }: { c: PageContext }) {
  return (
    <Section title="Free up space">
      <p>A full mailbox receives no more mail. Agents cannot delete mail.</p>
      <Form c={c} action="/mail/deleted">
        <Select name="days" label="Delete mail older than" choices={ages} chosen="90" />
        <Checkbox name="sure" label="Delete for good what an agent has read or sent" />
        <div class="actions">
          <Button kind="danger">Delete old mail</Button>
        </div>
      </Form>
    </Section>
  )
}
