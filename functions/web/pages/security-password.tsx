import { setPassword } from '../../../shared/auth/own-secrets.ts'
import type { PasswordProblem } from '../../../shared/auth/password.ts'
import { fields, owner } from '../frame.ts'
import { Page, show } from '../layout.tsx'
import { enter, ownSession, proofFirst, readSecurity } from '../own-session.ts'
import { Button, Form, Username } from '../parts/form.tsx'
import { NewPassword } from '../parts/new-password.tsx'
import type { Routes, Visit } from '../visit.ts'

export const routes: Routes = (app) => {
  app.get('/security/password', (c) => showPassword(c))
  app.post('/security/password', async (c) => {
    const password = (await fields(c)).get('password') ?? ''
    const { email } = await readSecurity(c)
    const set = await setPassword(await ownSession(c), password, email)
    if ('problem' in set) return showPassword(c, passwordProblems[set.problem])
    return enter(c, set.token ?? '', '/security')
  })
}

/** What is wrong with a password, as people read it. */
export const passwordProblems: Record<PasswordProblem, string> = {
  too_short: 'Use at least 10 characters.',
  too_long: 'Use at most 256 characters.',
  common: 'This is one of the passwords that are guessed first. Choose another.',
  personal: 'This is too close to your own name. Choose another.',
}

async function showPassword(c: Visit, error?: string) {
  const me = await owner(c)
  const security = await readSecurity(c)
  const proof = proofFirst(c, security)
  if (proof) return proof
  return show(
    c,
    <Page c={c} title="Password" owner={me} lead="A new password ends every session but this one.">
      <Form c={c}>
        <Username value={security.email} />
        <NewPassword {...(error === undefined ? {} : { error })} />
        <Button>Set password</Button>
      </Form>
      <p>
        <a href="/web/security">Back to security</a>
      </p>
    </Page>,
    error === undefined ? 200 : 422,
  )
}
