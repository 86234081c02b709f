import { setPassword } from '../../../shared/auth/own-secrets.ts'
import { passwordProblems } from '../../../shared/auth/password.ts'
import { fields, owner } from '../frame.ts'
import { Page, show } from '../layout.tsx'
import { enter, ownSession, proofFirst, readSecurity } from '../own-session.ts'
import { Button, Form, Username } from '../parts/form.tsx'
import { NewPassword } from '../parts/new-password.tsx'
import type { Routes, Visit } from '../visit.ts'
import { pagesBelow } from '../visit.ts'

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

async function showPassword(c: Visit, error?: string) {
  const me = await owner(c)
  const security = await readSecurity(c)
  const proof = proofFirst(c, security)
  if (proof) return proof
  return show(
    c,
    <Page
      c={c}
      title="Password"
      owner={me}
      back={{ to: '/security', label: 'Security' }}
      lead={
        security.guarded_until === null
          ? 'A new password ends every session but this one.'
          : 'Other sessions go on: a recovery code was used lately.'
      }
      scripts={['sign-up']}
    >
      <p>
        Was somebody else in your account? A new password alone leaves what they made.{' '}
        <a href={`${pagesBelow}/not-me`}>It was not me</a> ends that too.
      </p>
      <Form c={c}>
        <Username value={security.email} />
        <NewPassword {...(error === undefined ? {} : { error })} />
        <Button>Set password</Button>
      </Form>
    </Page>,
    error === undefined ? 200 : 422,
  )
}
