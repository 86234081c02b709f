import type { PropsWithChildren } from 'hono/jsx'
import { owner } from '../frame.ts'
import { Page, show } from '../layout.tsx'
import { readSecurity } from '../own-session.ts'
import { Facts, Notice, Time } from '../parts/show.tsx'
import type { Routes, Visit } from '../visit.ts'
import { pagesBelow } from '../visit.ts'

export const routes: Routes = (app) => {
  app.get('/security', showSecurity)
}

async function showSecurity(c: Visit) {
  const me = await owner(c)
  const { email, has_password, passkeys, ...rest } = await readSecurity(c)
  const live = rest.sign_ins.filter(({ is_live }) => is_live)
  const names = passkeys.map(({ label }) => label).join(', ')
  const places = live.length === 1 ? 'Signed in here alone' : `Signed in at ${live.length} places`
  return show(
    c,
    <Page c={c} title="Security" owner={me} lead="How you sign in, and where you are signed in.">
      {rest.guarded_until && (
        <Notice kind="warning" title="A recovery code was used">
          Until <Time at={rest.guarded_until} /> nothing can be widened. If it was not you, set a
          new password now: it ends all other sessions.
        </Notice>
      )}
      {rest.recovery_codes_left === 0 && (
        <Notice title="You have no recovery codes">
          Without them, losing your password and your passkeys means losing the account.
        </Notice>
      )}
      <Facts
        facts={[
          ['Mail address', email],
          [
            'Password',
            <With now={has_password ? 'Set' : 'None'} to="password">
              {has_password ? 'Change' : 'Set'} the password
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
            'Sessions',
            <With now={places} to="sessions">
              See and end sessions
            </With>,
          ],
        ]}
      />
    </Page>,
  )
}

/** How it stands, and the page that changes it. */
function With({ now, to, children }: PropsWithChildren<{ now: string; to: string }>) {
  return (
    <span class="head">
      <span>{now}</span>
      <a href={`${pagesBelow}/security/${to}`}>{children}</a>
    </span>
  )
}
