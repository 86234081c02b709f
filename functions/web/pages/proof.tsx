import { readAssertion } from '../../../shared/auth/passkey-answer.ts'
import {
  beginPasskeyProof,
  proveWithPasskey,
  proveWithPassword,
} from '../../../shared/auth/proof.ts'
import { fields, owner } from '../frame.ts'
import { Page, show } from '../layout.tsx'
import { enter, ownSession, readSecurity } from '../own-session.ts'
import { Button, Field, Form, Username } from '../parts/form.tsx'
import { PasskeyForm } from '../parts/passkey.tsx'
import { Notice } from '../parts/show.tsx'
import type { Routes, Visit } from '../visit.ts'
import { pagesBelow } from '../visit.ts'
import { nextOf, wayBack } from '../way-back.ts'

export const routes: Routes = (app) => {
  app.get('/proof', (c) => showProof(c, wayBack(c.req.query('next'))))
  app.post('/proof', async (c) => {
    const form = await fields(c)
    const way = wayBack(form.get('next'))
    const token = await proveWithPassword(await ownSession(c), form.get('password') ?? '')
    if (token === undefined) return showProof(c, way, 'The password is not right.')
    return enter(c, token, way)
  })
  app.post('/proof/passkey/options', async (c) =>
    c.json(await beginPasskeyProof(await ownSession(c))),
  )
  app.post('/proof/passkey', async (c) => {
    const form = await fields(c)
    const way = wayBack(form.get('next'))
    const answer = readAssertion(form.get('answer') ?? '')
    const token = answer && (await proveWithPasskey(await ownSession(c), answer))
    if (token === undefined) return showProof(c, way, 'This passkey is not one of the account.')
    return enter(c, token, way)
  })
}

async function showProof(c: Visit, way: string, error?: string) {
  const me = await owner(c)
  const { email, has_password, needs_passkey, passkeys } = await readSecurity(c)
  const next = nextOf(way)
  return show(
    c,
    <Page
      c={c}
      title="Confirm that it is you"
      owner={me}
      lead="What you are about to do shows or changes secrets, or gives more room to spend or to sign in. Confirm once more; it holds for ten minutes."
      scripts={['passkey']}
    >
      {error && <Notice kind="danger">{error}</Notice>}
      {passkeys.length > 0 && (
        <PasskeyForm
          c={c}
          act="get"
          action="/proof/passkey"
          label="Confirm with a passkey"
          next={next}
        />
      )}
      {needs_passkey && <PasskeyAlone isThere={passkeys.length > 0} />}
      {has_password && !needs_passkey && (
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
      {!has_password && passkeys.length === 0 && (
        <p>
          The account has neither password nor passkey yet. Set one on the{' '}
          <a href={`${pagesBelow}/security`}>security page</a>.
        </p>
      )}
    </Page>,
    error === undefined ? 200 : 403,
  )
}

/** Tells why the account takes no password here. */
function PasskeyAlone({ isThere }: { isThere: boolean }) {
  return isThere ? (
    <p class="quiet">
      A password is not enough in an account with a passkey, and neither is a passkey that was added
      after you signed in: sign in with that one first. If all are lost, sign in with a recovery
      code.
    </p>
  ) : (
    <p>
      The last passkey of the account was removed. For three days after that nothing is widened;
      then your password is enough.
    </p>
  )
}
