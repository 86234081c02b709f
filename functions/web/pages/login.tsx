import { readAssertion } from '../../../shared/auth/passkey-answer.ts'
import { beginPasskeySignIn, signInWithPasskey } from '../../../shared/auth/passkey-sign-in.ts'
import { signInWithPassword } from '../../../shared/auth/sign-in.ts'
import { fields } from '../frame.ts'
import { Page, show } from '../layout.tsx'
import { browserOf, signIn } from '../own-session.ts'
import { Button, Field, Form } from '../parts/form.tsx'
import { PasskeyForm } from '../parts/passkey.tsx'
import { Notice } from '../parts/show.tsx'
import { challengeIn, Work, WorkAsked, workFor } from '../parts/work.tsx'
import type { Routes, Visit } from '../visit.ts'
import { pagesBelow } from '../visit.ts'
import { nextOf, wayBack } from '../way-back.ts'

export const routes: Routes = (app) => {
  app.get('/login', (c) => showLogin(c, { way: wayBack(c.req.query('next')) }))
  app.post('/login', async (c) => {
    const form = await fields(c)
    const [email, password] = [form.get('email') ?? '', form.get('password') ?? '']
    const given = { email, password, solution: form.get('solution') ?? undefined }
    const way = wayBack(form.get('next'))
    const error = 'The mail address or the password is not right.'
    try {
      const token = await signInWithPassword(c.get('world'), given, browserOf(c))
      return token === undefined ? showLogin(c, { way, email, error }) : signIn(c, token, way)
    } catch (thrown) {
      return showLogin(c, { way, email, challenge: challengeIn(thrown) })
    }
  })
  app.post('/login/passkey/options', async (c) => {
    return c.json(await beginPasskeySignIn(c.get('world'), c.get('formToken')))
  })
  app.post('/login/passkey', async (c) => {
    const form = await fields(c)
    const way = wayBack(form.get('next'))
    const answer = readAssertion(form.get('answer') ?? '')
    const holder = c.get('formToken')
    const token = answer && (await signInWithPasskey(c.get('world'), answer, holder, browserOf(c)))
    const error = 'This passkey does not open an account here.'
    return token === undefined ? showLogin(c, { way, error }) : signIn(c, token, way)
  })
}

type Tried = { way: string; email?: string; error?: string; challenge?: string }

function showLogin(c: Visit, { way, email = '', error, challenge }: Tried) {
  const next = nextOf(way)
  return show(
    c,
    <Page
      c={c}
      title="Sign in"
      scripts={challenge === undefined ? ['passkey'] : ['passkey', 'human']}
    >
      {way.startsWith('/authorize?') && (
        <p>An app asks to be let into your account. Sign in to see what it asks for and decide.</p>
      )}
      {challenge !== undefined && <WorkAsked />}
      {error && <Notice kind="danger">{error}</Notice>}
      <PasskeyForm
        c={c}
        act="get"
        action="/login/passkey"
        label="Sign in with a passkey"
        next={next}
      />
      <Form c={c} action="/login" {...workFor(challenge)}>
        <input type="hidden" name="next" value={next} />
        <Field
          name="email"
          label="Mail address"
          type="email"
          value={email}
          autocomplete="username webauthn"
          maxlength={254}
          required
        />
        <Field
          name="password"
          label="Password"
          type="password"
          autocomplete="current-password"
          required
        />
        <Button>Sign in</Button>
        {challenge !== undefined && <Work />}
      </Form>
      <p class="quiet">
        Lost both? <a href={`${pagesBelow}/login/recovery`}>Use a recovery code</a>. No account yet?{' '}
        <a href={`${pagesBelow}/join`}>Open one</a>.
      </p>
    </Page>,
    challenge !== undefined ? 429 : error === undefined ? 200 : 403,
  )
}
