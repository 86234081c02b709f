import type { Child } from 'hono/jsx'
import { owner } from '../frame.ts'
import { Page, show } from '../layout.tsx'
import { readSecurity } from '../own-session.ts'
import { LinkButton } from '../parts/form.tsx'
import { Facts, Notice, Time } from '../parts/show.tsx'
import type { Routes, Visit } from '../visit.ts'

export const routes: Routes = (app) => {
  app.get('/security', showSecurity)
}

async function showSecurity(c: Visit) {
  const me = await owner(c)
  const { email, has_password, passkeys, ...rest } = await readSecurity(c)
  const live = rest.sign_ins.filter(({ is_live }) => is_live)
  const facts: [string, Child][] = [
    ['Mail address', email],
    ['Password', has_password ? 'Set' : 'None'],
    ['Passkeys', passkeys.map(({ label }) => label).join(', ') || 'None'],
    ['Recovery codes left', String(rest.recovery_codes_left)],
    ['Signed in', live.length === 1 ? 'Here alone' : `In ${live.length} browsers`],
  ]
  return show(
    c,
    <Page c={c} title="Security" owner={me} lead="How you sign in, and where you are signed in.">
      {rest.guarded_until && (
        <Notice kind="warning" title="A recovery code was used.">
          Until <Time at={rest.guarded_until} /> nothing can be widened. If it was not you, set a
          new password now: it ends all other sessions.
        </Notice>
      )}
      {rest.recovery_codes_left === 0 && (
        <Notice title="You have no recovery codes.">
          Without them, losing your password and your passkeys means losing the account.
        </Notice>
      )}
      <Facts facts={facts} />
      <p class="actions">
        <LinkButton to="/security/password">
          {has_password ? 'Change password' : 'Set a password'}
        </LinkButton>
        <LinkButton to="/security/passkeys">Passkeys</LinkButton>
        <LinkButton to="/security/recovery-codes">Recovery codes</LinkButton>
        <LinkButton to="/security/sessions">Sessions</LinkButton>
      </p>
    </Page>,
  )
}
