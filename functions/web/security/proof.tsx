/** The page on which the owner proves their identity again, with a passkey or a password. */
import { readAssertion } from '../../../shared/auth/passkey.ts'
import {
  beginPasskeyProof,
  proveWithPasskey,
  proveWithPassword,
} from '../../../shared/auth/proof.ts'
import { readFormFields, requireOwner } from '../frame.ts'
import { Page, sendPage } from '../layout.tsx'
import { enterSession, ownerSessionOf, readSecurity } from '../session.ts'
import { Button, Field, Form, Username } from '../ui/form.tsx'
import { PasskeyForm } from '../ui/passkey.tsx'
import { Notice } from '../ui/show.tsx'
import {
  type PageContext,
  type Routes,
  returnPathField,
  returnPathOf,
  webAppPath,
} from '../visit.ts'

/** Routes that show the page and take either proof. */
export const routes: Routes = (app) => {
  app.get('/proof', (c) => showProof(c, returnPathOf(c.req.query('next'))))
  app.post('/proof', async (c) => {
    const form = await readFormFields(c)
    const way = returnPathOf(form.get('next'))
    const token = await proveWithPassword(await ownerSessionOf(c), form.get('password') ?? '')
    if (token === undefined) return showProof(c, way, 'The password is wrong.')
    return enterSession(c, token, way)
  })
  app.post('/proof/passkey/options', async (c) =>
    c.json(await beginPasskeyProof(await ownerSessionOf(c))),
  )
  app.post('/proof/passkey', async (c) => {
    const form = await readFormFields(c)
    const way = returnPathOf(form.get('next'))
    const answer = readAssertion(form.get('answer') ?? '')
    const token = answer && (await proveWithPasskey(await ownerSessionOf(c), answer))
    const error = 'This passkey does not belong to the account, or it answered too late.'
    if (token === undefined) return showProof(c, way, error)
    return enterSession(c, token, way)
  })
}

async function showProof(c: PageContext, way: string, error?: string) {
  const me = await requireOwner(c)
  const { email, has_password, passkeys } = await readSecurity(c)
  const hasPasskey = passkeys.length > 0
  const next = returnPathField(way)
  return sendPage(
    c,
    <Page
      c={c}
      title="Confirm it’s you"
      owner={me}
      lead="This step needs your confirmation, which lasts ten minutes."
      scripts={['passkey']}
    >
      {error && <Notice kind="danger">{error}</Notice>}
      {hasPasskey && (
        <PasskeyForm
          c={c}
          act="get"
          action="/proof/passkey"
          label="Confirm with a passkey"
          next={next}
          otherwise="Any other passkey of the account works too. If all are lost, sign in with a recovery code."
        />
      )}
      {has_password && !hasPasskey && (
        <Form c={c} action="/proof">
          <input type="hidden" name="next" value={next} />
          <Username value={email} />
          <Field
            name="password"
            label="Password"
            type="password"
            autocomplete="current-password"
            required
          />
          <Button>Confirm</Button>
        </Form>
      )}
      {!has_password && !hasPasskey && (
        <p>
          The account has neither password nor passkey yet. Set one on the{' '}
          <a href={`${webAppPath}/security`}>security page</a>.
        </p>
      )}
    </Page>,
    error === undefined ? 200 : 403,
  )
}
