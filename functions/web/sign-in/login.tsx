/** The page on which an owner signs in with a passkey or a password. */
import { readAssertion } from '../../../shared/auth/passkey.ts'
import {
  beginPasskeySignIn,
  signInWithPasskey,
  signInWithPassword,
} from '../../../shared/auth/sign-in.ts'
import { readFormFields } from '../frame.ts'
import { Page, sendPage } from '../layout.tsx'
import { browserOf, signIn } from '../session.ts'
import { Button, Field, Form } from '../ui/form.tsx'
import { PasskeyForm } from '../ui/passkey.tsx'
import { Notice } from '../ui/show.tsx'
import {
  type PageContext,
  type Routes,
  returnPathField,
  returnPathOf,
  webAppPath,
} from '../visit.ts'

/** Routes that show the form and sign in either way. */
export const routes: Routes = (app) => {
  app.get('/login', (c) => showLogin(c, { way: returnPathOf(c.req.query('next')) }))
  app.post('/login', async (c) => {
    const form = await readFormFields(c)
    const [email, password] = [form.get('email') ?? '', form.get('password') ?? '']
    const way = returnPathOf(form.get('next'))
    const error = 'The email address or the password is wrong.'
    const token = await signInWithPassword(c.get('world'), { email, password }, browserOf(c))
    return token === undefined ? showLogin(c, { way, email, error }) : signIn(c, token, way)
  })
  app.post('/login/passkey/options', async (c) => {
    return c.json(await beginPasskeySignIn(c.get('world'), c.get('formToken')))
  })
  app.post('/login/passkey', async (c) => {
    const form = await readFormFields(c)
    const way = returnPathOf(form.get('next'))
    const answer = readAssertion(form.get('answer') ?? '')
    const holder = c.get('formToken')
    const token = answer && (await signInWithPasskey(c.get('world'), answer, holder, browserOf(c)))
    const error = `This passkey does not open an account here, or it answered too late. ${otherwise}`
    return token === undefined ? showLogin(c, { way, error }) : signIn(c, token, way)
  })
}

const otherwise =
  'You can also sign in with your email address and password, or with a recovery code.'

/** Front page of the service, in three sentences. */
const about =
  'An account for your AI agent, with an email address, a wallet and logins of its own. It pays within limits that you ' +
  'set and asks you about the rest. You see all that it does, and one press stops it.'
const appAsks =
  'An app asks for access to your account. Sign in to see what it asks for and decide.'

type Tried = { way: string; email?: string; error?: string }

function showLogin(c: PageContext, { way, email = '', error }: Tried) {
  const next = returnPathField(way)
  return sendPage(
    c,
    <Page
      c={c}
      title="Sign in"
      lead={way.startsWith('/authorize?') ? appAsks : about}
      scripts={['passkey']}
    >
      {error && <Notice kind="danger">{error}</Notice>}
      <PasskeyForm
        c={c}
        act="get"
        action="/login/passkey"
        label="Sign in with a passkey"
        next={next}
        otherwise={otherwise}
      />
      <Form c={c} action="/login">
        <input type="hidden" name="next" value={next} />
        <Field
          name="email"
          label="Email address"
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
      </Form>
      <OtherWays />
    </Page>,
    error === undefined ? 200 : 403,
  )
}

function OtherWays() {
  return (
    <p class="quiet">
      Lost both? <a href={`${webAppPath}/login/recovery`}>Use a recovery code</a>. No account yet?{' '}
      <a href={`${webAppPath}/join`}>Open one</a>.
    </p>
  )
}
