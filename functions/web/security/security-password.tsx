/** The page on which the owner sets a new password. */
import { setPassword } from '../../../shared/auth/own-secrets.ts'
import { passwordProblems } from '../../../shared/auth/password.ts'
import { readFormFields, requireOwner } from '../frame.ts'
import { Page, sendPage } from '../layout.tsx'
import { enterSession, ownerSessionOf, proofFirst, readSecurity } from '../session.ts'
import { NewPassword } from '../sign-in/new-password.tsx'
import { Button, Form, Username } from '../ui/form.tsx'
import { type PageContext, type Routes, webAppPath } from '../visit.ts'

/** Routes that show the form and set the password. */
export const routes: Routes = (app) => {
  app.get('/security/password', (c) => showPassword(c))
  app.post('/security/password', async (c) => {
    const password = (await readFormFields(c)).get('password') ?? ''
    const { email } = await readSecurity(c)
    const set = await setPassword(await ownerSessionOf(c), password, email)
    if ('problem' in set) return showPassword(c, passwordProblems[set.problem])
    return enterSession(c, set.token ?? '', '/security')
  })
}

async function showPassword(c: PageContext, error?: string) {
  const me = await requireOwner(c)
  const security = await readSecurity(c)
  const proof = proofFirst(c, security)
  if (proof) return proof
  return sendPage(
    c,
    <Page
      c={c}
      title="Password"
      owner={me}
      back={{ to: '/security', label: 'Security' }}
      lead="A new password ends every session but this one."
      scripts={['sign-up']}
    >
      <p>
        Was somebody else in your account? A new password alone does not end what they set up.{' '}
        <a href={`${webAppPath}/secure`}>Secure my account</a> ends that too.
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
