/** The page on which the owner sees all ways to sign in, and the pages that change them. */
import type { Child, PropsWithChildren } from 'hono/jsx'
import { requireOwner } from '../frame.ts'
import { Page, sendPage } from '../layout.tsx'
import { readSecurity, type Security } from '../session.ts'
import { Facts, Notice, Time } from '../ui/show.tsx'
import { type PageContext, type Routes, webAppPath } from '../visit.ts'

/** Routes that show the overview of security. */
export const routes: Routes = (app) => {
  app.get('/security', showSecurity)
}

async function showSecurity(c: PageContext) {
  const me = await requireOwner(c)
  const security = await readSecurity(c)
  const { recovery_codes_left } = security
  return sendPage(
    c,
    <Page c={c} title="Security" owner={me} lead="How you sign in, and where you are signed in.">
      {recovery_codes_left === 0 && (
        <Notice title="You have no recovery codes">
          Without them, losing your password and your passkeys means losing the account.
        </Notice>
      )}
      <Facts facts={securityFacts(security)} />
    </Page>,
  )
}

function securityFacts({ email, has_password, passkeys, ...rest }: Security): [string, Child][] {
  const names = passkeys.map(({ label }) => label).join(', ')
  const live = rest.sign_ins.filter(({ is_live }) => is_live)
  const places = live.length === 1 ? 'Signed in here alone' : `Signed in at ${live.length} places`
  const [password, verb] = has_password ? ['Set', 'Change'] : ['None', 'Set']
  return [
    [
      'Mail address',
      <With now={<AddressNow email={email} change={rest.mail_change} />} to="mail-address">
        {rest.mail_change ? 'See or stop the change' : 'Change the address'}
      </With>,
    ],
    [
      'Password',
      <With now={password} to="password">
        {verb} the password
      </With>,
    ],
    [
      'Passkeys',
      <With now={names || 'None'} to="passkeys">
        Add or remove passkeys
      </With>,
    ],
    [
      'Recovery codes',
      <With now={`${rest.recovery_codes_left} left`} to="recovery-codes">
        Make new codes
      </With>,
    ],
    [
      'Somebody else was here?',
      <span class="head">
        <span>End all they could use</span>
        <a href={`${webAppPath}/secure`}>Secure my account</a>
      </span>,
    ],
    [
      'Sessions',
      <With now={places} to="sessions">
        See and end sessions
      </With>,
    ],
  ]
}

/** Shows the mail address, and when another takes its place. */
function AddressNow({ email, change }: { email: string; change: Security['mail_change'] }) {
  const at = change?.takes_effect_at
  if (!at) return email
  return (
    <>
      {email}, replaced by {change.email} <Time at={at} isInSentence />
    </>
  )
}

/** Shows a state with a link to the page that changes it. */
function With({ now, to, children }: PropsWithChildren<{ now: Child; to: string }>) {
  return (
    <span class="head">
      <span>{now}</span>
      <a href={`${webAppPath}/security/${to}`}>{children}</a>
    </span>
  )
}
