import * as z from 'zod'
import { codesReadable } from '../../../shared/mail/access-messages.ts'
import type { AskedMails } from '../data/mailbox.ts'
import { listOwnMails } from '../data/mailbox.ts'
import { fields, goTo, owner } from '../frame.ts'
import { Page, show } from '../layout.tsx'
import { noticeOf } from '../own-session.ts'
import { Button, Checkbox, Field, Form, Select } from '../parts/form.tsx'
import { Mails } from '../parts/mail.tsx'
import { Empty, Pager, Section } from '../parts/show.tsx'
import type { Routes, Visit } from '../visit.ts'
import { pagesBelow } from '../visit.ts'

const showsRow = z.object({ shows_codes: z.boolean() })

export const routes: Routes = (app) => {
  app.get('/mail', showMail)
  app.post('/mail/codes', async (c) => {
    const { db } = await owner(c)
    const shows = (await fields(c)).get('wanted') === 'shown'
    const mail = shows ? await noticeOf(c, codesReadable) : null
    await db.run('owner_set_shows_codes', { shows, mail })
    return goTo(c, '/mail')
  })
}

async function showMail(c: Visit) {
  const me = await owner(c)
  const [{ query, mails, next_cursor: next }, set] = await Promise.all([
    listOwnMails(c),
    me.db.one('owner_read_shows_codes', {}, showsRow),
  ])
  const isNarrowed = Object.values(query).some((value) => value !== undefined)
  return show(
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
      <Narrow query={query} />
      <Section title={isNarrowed ? 'Found' : 'All'}>
        {mails.length > 0 ? (
          <Mails mails={mails} />
        ) : (
          <Empty>{isNarrowed ? 'Nothing matches.' : 'No mail has come in or gone out yet.'}</Empty>
        )}
      </Section>
      <Pager
        newest={query.before && addressOf({ ...query, before: undefined })}
        older={next === null ? undefined : addressOf({ ...query, before: next })}
      />
      <CodesForm c={c} shows={set?.shows_codes === true} />
    </Page>,
  )
}

function addressOf(query: AskedMails): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) if (value) search.set(name, value)
  return `${pagesBelow}/mail?${search.toString()}`
}

function Narrow({ query }: { query: AskedMails }) {
  return (
    <form method="get" action={`${pagesBelow}/mail`} class="row" role="search">
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

function CodesForm({ c, shows }: { c: Visit; shows: boolean }) {
  return (
    <Section title="Codes and sign-in links">
      <p>
        {shows
          ? 'Agents read them as they are. Whatever an agent is told can then end up with others.'
          : 'Agents have them used at the site that sent them, once, and never see them. That is the safe way.'}
      </p>
      <Form c={c} action="/mail/codes">
        <div class="actions">
          <Button
            kind={shows ? 'plain' : 'danger'}
            name="wanted"
            value={shows ? 'sealed' : 'shown'}
          >
            {shows ? 'No longer let agents read them' : 'Let agents read them'}
          </Button>
        </div>
      </Form>
    </Section>
  )
}
