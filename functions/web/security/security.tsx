/** The page on which the owner sees all ways to sign in, and the pages that change them. */
import type { Child } from 'hono/jsx'
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
  const places = live.length === 1 ? 'Signed in only here' : `Signed in in ${live.length} places`
  const [password, verb] = has_password ? ['Set', 'Change'] : ['None', 'Set']
  const { mail_change: change, recovery_codes_left: left } = rest
  const address = <AddressNow email={email} change={change} />
  const seeChange = change ? 'See or stop the change' : 'Change the address'
  return [
    fact('Email address', address, 'security/mail-address', seeChange),
    fact('Password', password, 'security/password', `${verb} the password`),
    fact('Passkeys', names || 'None', 'security/passkeys', 'Add or remove passkeys'),
    fact('Recovery codes', `${left} left`, 'security/recovery-codes', 'Make new codes'),
    fact('Was somebody else here?', 'End everything they could use', 'secure', 'Secure my account'),
    fact('Sessions', places, 'security/sessions', 'See and end sessions'),
    fact(
      'No longer needed?',
      'You have 30 days to reopen it',
      'security/close',
      'Close the account',
    ),
  ]
}

/** Returns a state with a link to the page that changes it. */
function fact(name: string, now: Child, to: string, label: string): [string, Child] {
  return [
    name,
    <span class="head">
      <span>{now}</span>
      <a href={`${webAppPath}/${to}`}>{label}</a>
    </span>,
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
