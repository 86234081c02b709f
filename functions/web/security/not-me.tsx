/** The page on which an owner ends everything that was made in the account since an intrusion. */
import type { AccessChanges } from '../../../shared/auth/end-made.ts'
import { listAccessChanges, undoAccessChanges } from '../../../shared/auth/end-made.ts'
import { problemWith } from '../../../shared/auth/own-secrets.ts'
import { passwordProblems } from '../../../shared/auth/password.ts'
import { Rejection } from '../../../shared/contract/errors.ts'
import { goTo, readFormFields, requireOwner } from '../frame.ts'
import { Page, sendPage } from '../layout.tsx'
import { enter, ownerSessionOf, readSecurity } from '../own-session.ts'
import { NewPassword } from '../sign-in/new-password.tsx'
import { Button, Field, Form, LinkButton, Username } from '../ui/form.tsx'
import { Notice, Section, Time } from '../ui/show.tsx'
import type { PageContext, Routes } from '../visit.ts'
import { webAppPath } from '../visit.ts'
import { ChangesSince } from './made.tsx'

const path = '/not-me'
const title = 'It was not me'
const security = { to: '/security', label: 'Security' }

/** Routes that ask for the time, show what was made since, and end it. */
export const routes: Routes = (app) => {
  app.get(path, async (c) => {
    const since = c.req.query('since')
    if (since !== undefined) return showChangesSince(c, since)
    return c.req.query('ended') === undefined ? showTimes(c) : showEnded(c)
  })
  app.post(path, end)
}

const hour = 3_600_000
const spans: [label: string, milliseconds: number][] = [
  ['The last hour', hour],
  ['The last day', 24 * hour],
  ['The last week', 7 * 24 * hour],
  ['The last 30 days', 30 * 24 * hour],
]

/** Reads a time from a link or form and returns it in ISO 8601; undefined if it is not one. */
function readTime(text: string): string | undefined {
  const [, day, time = '00:00'] =
    /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?))?(?:Z|\+00:00)?$/.exec(
      text.trim(),
    ) ?? []
  const iso = `${day}T${time}Z`
  return day !== undefined && Number.isFinite(Date.parse(iso)) ? iso : undefined
}

async function showTimes(c: PageContext, error?: string) {
  const me = await requireOwner(c)
  const now = c.get('world').now().getTime()
  return sendPage(
    c,
    <Page
      c={c}
      title={title}
      owner={me}
      back={security}
      lead="Everything that was made in your account since a time ends by one step. You see all of it first."
    >
      <Section title="Since when?">
        <ul class="points">
          {spans.map(([label, span]) => (
            <li>
              <a href={`${webAppPath}${path}?since=${new Date(now - span).toISOString()}`}>
                {label}
              </a>
            </li>
          ))}
        </ul>
        <form method="get" action={webAppPath + path}>
          <Field
            name="since"
            label="Another time, in UTC"
            hint="Such as 2026-11-21 14:30. At most 90 days ago."
            required
            maxlength={30}
            {...(error === undefined ? {} : { error })}
          />
          <Button kind="plain">See what was made since</Button>
        </form>
      </Section>
    </Page>,
    error === undefined ? 200 : 400,
  )
}

type Problem = { password?: string; isChanged?: true }

async function showChangesSince(c: PageContext, since: string, problem: Problem = {}) {
  const me = await requireOwner(c)
  const from = readTime(since)
  if (from === undefined) return showTimes(c, 'This is no time. Write it as 2026-11-21 14:30.')
  const list = await listAccessChanges(me, from).catch((error: unknown) => wayToProof(c, error))
  if (list instanceof Response) return list
  const { sign_ins } = await readSecurity(c)
  const isLater = Date.parse(list.counts_from) > Date.parse(from)
  return sendPage(
    c,
    <Page
      c={c}
      title={title}
      owner={me}
      back={{ to: path, label: 'Another time' }}
      lead="Look it over. What is your own and ends here, you can make again."
      scripts={['sign-up']}
    >
      {problem.isChanged && (
        <Notice kind="warning" title="Nothing has ended yet">
          This page was shown for another account or other times. Look it over and confirm again.
        </Notice>
      )}
      <p>
        Since <Time at={list.counts_from} />
        {isLater && '. What is older than what you signed in or confirmed with stays'}.
      </p>
      <ChangesSince list={list} signIns={sign_ins} />
      <EndForm c={c} account={me.account.id} list={list} error={problem.password} />
    </Page>,
    Object.keys(problem).length === 0 ? 200 : 422,
  )
}

type EndFormProps = {
  c: PageContext
  account: string
  list: AccessChanges
  error: string | undefined
}

async function EndForm({ c, account, list, error }: EndFormProps) {
  const { has_password, email } = await readSecurity(c)
  const { counts_from: since, until, digest, removed_passkeys } = list
  return (
    <Form c={c} action={`${path}?since=${encodeURIComponent(since)}`}>
      {Object.entries({ account, since, until, digest }).map(([name, value]) => (
        <input type="hidden" name={name} value={value} />
      ))}
      {removed_passkeys.length > 0 && (
        <fieldset>
          <legend>Passkeys that were removed since. Take back those that you have with you:</legend>
          {removed_passkeys.map(({ id, label, removed_at }) => (
            <label class="choice">
              <input type="checkbox" name="put_back" value={id} />
              <span>
                {label}, removed <Time at={removed_at} />
              </span>
            </label>
          ))}
        </fieldset>
      )}
      {has_password && (
        <Section title="Your new password">
          <p>Whoever came in may know the one that you have.</p>
          <Username value={email} />
          <NewPassword {...(error === undefined ? {} : { error })} />
        </Section>
      )}
      <div class="actions">
        <Button kind="danger">End all of it</Button>
      </div>
    </Form>
  )
}

/** Redirects to a proof: to sign-in if a password may count beside passkeys, else to the proof page. */
async function wayToProof(c: PageContext, error: unknown): Promise<Response> {
  if (!(error instanceof Rejection)) throw error
  const { needs_passkey, has_password } = await readSecurity(c)
  const here = new URL(c.req.url)
  const next = encodeURIComponent(here.pathname + here.search)
  const { refusal } = error.refusal
  if (refusal !== 'proof_required' && refusal !== 'passkey_required') throw error
  const byPassword = refusal === 'proof_required' && needs_passkey && has_password
  return goTo(c, `/${byPassword ? 'login' : 'proof'}?next=${next}`)
}

async function end(c: PageContext) {
  const form = await readFormFields(c)
  const session = await ownerSessionOf(c)
  const [since = '', until = '', digest = ''] = ['since', 'until', 'digest'].map(
    (name) => form.get(name) ?? '',
  )
  const from = readTime(since)
  const to = readTime(until)
  if (from === undefined || to === undefined || form.get('account') !== session.account.id) {
    return showChangesSince(c, since, { isChanged: true })
  }
  const { has_password, email } = await readSecurity(c)
  const password = has_password ? (form.get('password') ?? '') : undefined
  const problem = password === undefined ? undefined : await problemWith(session, password, email)
  if (problem) return showChangesSince(c, since, { password: passwordProblems[problem] })
  const shown = { since: from, until: to, digest }
  const given = { password, putBack: form.getAll('put_back') }
  const token = await undoAccessChanges(session, shown, given).catch((error: unknown) =>
    wayToProof(c, error),
  )
  if (token instanceof Response) return token
  if (token === undefined) return showChangesSince(c, since, { isChanged: true })
  return enter(c, token, `${path}?ended`)
}

async function showEnded(c: PageContext) {
  const me = await requireOwner(c)
  return sendPage(
    c,
    <Page c={c} title={title} owner={me} back={security} lead="It has ended. This session goes on.">
      <Section title="What is left to do">
        <ul class="points">
          <li>
            <a href={`${webAppPath}/security/recovery-codes`}>Make new recovery codes</a>, and add a{' '}
            <a href={`${webAppPath}/security/passkeys`}>passkey</a> if you have none.
          </li>
          <li>
            Look through the <a href={`${webAppPath}/activity`}>activity</a> and the logins in your{' '}
            <a href={`${webAppPath}/vault`}>vault</a>: what was changed there is not put back.
          </li>
          <li>
            If an older <a href={`${webAppPath}/keys`}>API key</a> may have leaked, revoke it too.
          </li>
        </ul>
        <p class="actions">
          <LinkButton to="/freeze">
            {me.account.isFrozen ? 'Unfreeze' : 'Freeze'} the account
          </LinkButton>
        </p>
      </Section>
    </Page>,
  )
}
