/** The page of one mail, which the owner reads, downloads the attachments of and deletes. */
import type { Child } from 'hono/jsx'
import { fail, Rejection } from '../../../shared/contract/errors.ts'
import type { OpenedMail } from '../../../shared/mailbox/port.ts'
import { goTo, readFormFields, requireOwner } from '../frame.ts'
import { Page, sendPage } from '../layout.tsx'
import { readSecurity } from '../session.ts'
import { Button, Checkbox, Form, ProofLink } from '../ui/form.tsx'
import { Facts, Section, Time } from '../ui/show.tsx'
import { type PageContext, type Routes, webAppPath } from '../visit.ts'
import { CodeState, MailStatusBadge, openOwnerMail } from './mail-lines.tsx'

/** Routes that show the mail, send an attachment and delete the mail. */
export const routes: Routes = (app) => {
  app.get('/mail/:mail', showOpened)
  app.get('/mail/:mail/file/:number', sendFile)
  app.post('/mail/:mail/deleted', remove)
}

async function showOpened(c: PageContext) {
  const me = await requireOwner(c)
  const { mail } = await openOwnerMail(c)
  const { reveal_refusal } = await readSecurity(c)
  const isIn = mail.direction === 'in'
  const { text } = mail.untrusted
  const here = `${webAppPath}/mail/${mail.mail_id}`
  return sendPage(
    c,
    <Page
      c={c}
      title={isIn ? 'Received email' : 'Sent email'}
      owner={me}
      back={{ to: '/mail', label: 'Mail' }}
      lead={<Time at={mail.at} />}
    >
      <Facts facts={[...mailFacts(mail), ...deliveriesOf(mail)]} />
      <Codes mail={mail} now={c.get('world').now()}>
        {reveal_refusal !== null && <ProofLink c={c} label="Show them" />}
      </Codes>
      <Section title="Text">
        {isIn && (
          <p class="quiet small">
            Written by whoever sent it, and shown as plain text. Links in it do not work here.
          </p>
        )}
        <p class="mail-text">{text.text || 'It has no text.'}</p>
        {mail.next_offset !== null && (
          <p>
            <a href={`${here}?from=${mail.next_offset}`}>Continue reading</a>
          </p>
        )}
      </Section>
      <Files mail={mail} />
      <DeleteForm c={c} mail={mail} />
    </Page>,
  )
}

async function remove(c: PageContext): Promise<Response> {
  const { db } = await requireOwner(c)
  const { mail } = await openOwnerMail(c)
  if ((await readFormFields(c)).get('sure') !== 'yes') return goTo(c, `/mail/${mail.mail_id}`)
  await db.run('owner_delete_mails', { mail: mail.mail_id })
  return goTo(c, '/mail')
}

function mailFacts(mail: OpenedMail): (readonly [string, Child])[] {
  const { untrusted, oddities } = mail
  return [
    ['Subject', untrusted.subject.text || 'None'],
    ['From', untrusted.subject.from],
    ['To', mail.to.join(', ') || 'Not named'],
    [mail.direction === 'in' ? 'Sender' : 'Delivery', <MailStatusBadge mail={mail} />],
    ...(mail.automatic ? [['Kind', 'Automated'] as const] : []),
    ...(oddities.length > 0
      ? [['Noticed', oddities.map((flaw) => flaw.replaceAll('_', ' ')).join(', ')] as const]
      : []),
  ]
}

function deliveriesOf({ deliveries = [] }: OpenedMail) {
  const words = {
    queued: 'On its way',
    sent: 'Accepted by the next mail server',
    failed: 'Refused',
  }
  return deliveries.map(({ to, status, untrusted }) => {
    const reason = untrusted === undefined ? '' : `: ${untrusted.reason.text}`
    return [`For ${to}`, `${words[status]}${reason}`] as const
  })
}

type CodesProps = { mail: OpenedMail; now: Date; children: Child }

function Codes({ mail: { codes }, now, children }: CodesProps) {
  if (codes.length === 0) return null
  return (
    <Section title="Codes and sign-in links in it">
      <Facts
        facts={codes.map((code) => [
          code.kind === 'code' ? 'A code' : 'A sign-in link',
          <CodeState code={code} now={now} />,
        ])}
      />
      {children}
    </Section>
  )
}

function Files({ mail: { mail_id, attachments } }: { mail: OpenedMail }) {
  if (attachments.length === 0) return null
  return (
    <Section title="Attachments">
      <p class="quiet small">Files from strangers. Open only what you expect.</p>
      <ul class="points">
        {attachments.map(({ number, size, untrusted }) => (
          <li>
            <a href={`${webAppPath}/mail/${mail_id}/file/${number}`} download>
              {untrusted.name.text || 'Unnamed file'}
            </a>{' '}
            <span class="quiet">{size} bytes</span>
          </li>
        ))}
      </ul>
    </Section>
  )
}

/** Renders the form, but not for mail sent within a day, which the database does not delete either. */
function DeleteForm({ c, mail }: { c: PageContext; mail: OpenedMail }) {
  const age = c.get('world').now().getTime() - new Date(mail.at).getTime()
  if (mail.direction === 'out' && age < 86_400_000) return null
  return (
    <Section title="Delete it">
      <Form c={c} action={`/mail/${mail.mail_id}/deleted`}>
        <Checkbox name="sure" label="Delete it for good" />
        <div class="actions">
          <Button kind="danger">Delete this email</Button>
        </div>
      </Form>
    </Section>
  )
}

/** Sends an attachment as a download of type octet-stream, so that no browser opens it by itself. */
async function sendFile(c: PageContext) {
  const number = Number(c.req.param('number'))
  const { mail, file } = Number.isInteger(number)
    ? await openOwnerMail(c, number)
    : { mail: undefined, file: undefined }
  if (!mail || !file) throw new Rejection(fail('not_found'))
  const name = mail.attachments[number - 1]?.untrusted.name.text ?? ''
  return c.body(new Uint8Array(file.content), 200, {
    'content-type': 'application/octet-stream',
    'content-disposition': `attachment; filename="${plainName(name)}"`,
  })
}

/** Reduces a file name chosen by a stranger to characters that every system accepts. */
function plainName(name: string): string {
  const plain = name.replaceAll(/[^A-Za-z0-9._-]+/g, '_').replace(/^[._]+/, '')
  return plain.slice(-100) || 'file'
}
