/** The page on which an owner signs in with a recovery code. */
import { signInWithRecoveryCode } from '../../../shared/auth/sign-in.ts'
import { readFormFields } from '../frame.ts'
import { Page, sendPage } from '../layout.tsx'
import { browserOf, signIn } from '../session.ts'
import { Button, Field, Form } from '../ui/form.tsx'
import { Notice } from '../ui/show.tsx'
import type { PageContext, Routes } from '../visit.ts'

/** Routes that show the form and sign in. */
export const routes: Routes = (app) => {
  app.get('/login/recovery', (c) => showRecovery(c, {}))
  app.post('/login/recovery', async (c) => {
    const form = await readFormFields(c)
    const email = form.get('email') ?? ''
    const given = { email, code: form.get('code') ?? '' }
    const token = await signInWithRecoveryCode(c.get('world'), given, browserOf(c))
    if (token === undefined) return showRecovery(c, { email, isWrong: true })
    return signIn(c, token, '/hold')
  })
}

type Tried = { email?: string; isWrong?: boolean }

function showRecovery(c: PageContext, { email = '', isWrong = false }: Tried) {
  return sendPage(
    c,
    <Page
      c={c}
      title="Sign in with a recovery code"
      back={{ to: '/login', label: 'Sign in' }}
      lead="Each code works once. The account is then on hold for 48 hours: you can view and freeze it, and set a new password that takes effect when the hold ends."
    >
      {isWrong && <Notice kind="danger">The email address or the code is wrong.</Notice>}
      <Form c={c}>
        <Field
          name="email"
          label="Email address"
          type="email"
          value={email}
          autocomplete="username"
          maxlength={254}
          required
        />
        <Field name="code" label="Recovery code" autocomplete="off" maxlength={64} required />
        <Button>Sign in</Button>
      </Form>
    </Page>,
    isWrong ? 403 : 200,
  )
}
