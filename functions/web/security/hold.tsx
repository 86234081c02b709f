/** The page of a hold: why it stands, until when, and how it ends. */
import { endHold, recoverAccess } from '../../../shared/auth/own-secrets.ts'
import { passwordProblems } from '../../../shared/auth/password.ts'
import { goTo, readFormFields, requireOwner } from '../frame.ts'
import { Page, sendPage } from '../layout.tsx'
import { ownerSessionOf, readSecurity, type Security } from '../session.ts'
import { NewPassword } from '../sign-in/new-password.tsx'
import { Button, Form, Username } from '../ui/form.tsx'
import { Notice, Section, Time } from '../ui/show.tsx'
import type { PageContext, Routes } from '../visit.ts'

const path = '/hold'

/** Routes that show the hold, end it, and set the password that is good after it. */
export const routes: Routes = (app) => {
  app.get(path, (c) => showHold(c))
  app.post(path, async (c) => {
    await endHold(await ownerSessionOf(c))
    return goTo(c, path)
  })
  app.post(`${path}/recover`, async (c) => {
    const form = await readFormFields(c)
    const { email } = await readSecurity(c)
    const lostPasskeys = form.get('lost') === 'yes'
    const given = { password: form.get('password') ?? '', email, lostPasskeys }
    const problem = await recoverAccess(await ownerSessionOf(c), given)
    return problem ? showHold(c, passwordProblems[problem]) : goTo(c, path)
  })
}

async function showHold(c: PageContext, error?: string) {
  const me = await requireOwner(c)
  const security = await readSecurity(c)
  const { hold_until, is_recovered } = security
  return sendPage(
    c,
    <Page
      c={c}
      title={hold_until === null ? 'The account is not on hold' : 'The account is on hold'}
      owner={me}
      back={{ to: '/security', label: 'Security' }}
      lead={
        hold_until === null ? (
          'Nothing is pending.'
        ) : (
          <>
            Until <Time at={hold_until} isInSentence /> nobody can approve payments, raise limits,
            see secrets, or end keys and apps. You can still lower limits and freeze, and agents
            keep working within their limits.
          </>
        )
      }
      scripts={['sign-up']}
    >
      {hold_until !== null && (
        <>
          <Pending security={security} until={hold_until} />
          {is_recovered && <RecoverForm c={c} security={security} error={error} />}
          <EndForm c={c} security={security} />
        </>
      )}
    </Page>,
    error === undefined ? 200 : 422,
  )
}

function Pending({ security, until }: { security: Security; until: string }) {
  const { pending_password, pending_passkey_removal, is_recovered } = security
  if (!pending_password && !pending_passkey_removal) {
    return is_recovered ? null : (
      <Notice kind="warning" title="A recovery code was used">
        Whoever has it can view the account, and set a password that takes effect in 48 hours.
      </Notice>
    )
  }
  return (
    <Notice kind="warning" title="What changes when it ends">
      <ul class="points">
        {pending_password && (
          <li>
            From <Time at={until} isInSentence /> a new password signs in, and every session ends.
          </li>
        )}
        {pending_passkey_removal && (
          <li>
            {pending_password ? 'All passkeys are' : 'The passkey is'} removed
            {pending_password && ', unless one is used before'}.
          </li>
        )}
      </ul>
    </Notice>
  )
}

type RecoverFormProps = { c: PageContext; security: Security; error: string | undefined }

function RecoverForm({ c, security, error }: RecoverFormProps) {
  const { email, passkeys, pending_password } = security
  return (
    <Section title={pending_password ? 'Choose another password' : 'Set a new password'}>
      <p>It takes effect in 48 hours. Sign in with it then.</p>
      <Form c={c} action={`${path}/recover`}>
        <Username value={email} />
        <NewPassword {...(error === undefined ? {} : { error })} />
        {passkeys.length > 0 && (
          <label class="choice">
            <input type="checkbox" name="lost" value="yes" />
            <span>I have lost all my passkeys. Remove them when the hold ends.</span>
          </label>
        )}
        <Button>Set password</Button>
      </Form>
    </Section>
  )
}

function EndForm({
  c,
  security: { passkeys, is_recovered },
}: {
  c: PageContext
  security: Security
}) {
  const proof = passkeys.length > 0 ? 'a passkey' : 'your current password'
  return (
    <Section title={is_recovered ? 'Can you still sign in another way?' : 'End it'}>
      <p>
        You confirm with {proof}. Pending changes are dropped. If a recovery code was used, whoever
        used it is signed out, and all codes are void.
      </p>
      <Form c={c}>
        <Button kind="plain">End the hold</Button>
      </Form>
    </Section>
  )
}
