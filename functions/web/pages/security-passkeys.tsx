import {
  addPasskey,
  beginPasskey,
  losePasskeys,
  removePasskey,
} from '../../../shared/auth/own-passkeys.ts'
import { readRegistration } from '../../../shared/auth/passkey-answer.ts'
import { fields, goTo, owner } from '../frame.ts'
import { Page, show } from '../layout.tsx'
import { ownSession, proofFirst, readSecurity, type Security } from '../own-session.ts'
import { Button, Field, Form } from '../parts/form.tsx'
import { PasskeyForm } from '../parts/passkey.tsx'
import { Empty, Notice, Section, Time } from '../parts/show.tsx'
import type { Routes, Visit } from '../visit.ts'

const path = '/security/passkeys'

export const routes: Routes = (app) => {
  app.get(path, (c) => showPasskeys(c))
  app.post(path, async (c) => {
    const form = await fields(c)
    const problem = await change(c, form)
    return problem === undefined ? goTo(c, path) : showPasskeys(c, problem)
  })
  app.post(`${path}/lost`, async (c) => {
    await losePasskeys(await ownSession(c))
    return goTo(c, '/security')
  })
  app.post(`${path}/options`, async (c) =>
    c.json(await beginPasskey(await ownSession(c), await readSecurity(c))),
  )
}

/** Why nothing was changed, or undefined when it was. */
async function change(c: Visit, form: URLSearchParams): Promise<string | undefined> {
  const session = await ownSession(c)
  const id = form.get('passkey') ?? ''
  const label = form.get('label')?.trim().slice(0, 64).toWellFormed() || 'Passkey'
  switch (form.get('deed') ?? '') {
    case 'add': {
      const answer = readRegistration(form.get('answer') ?? '')
      const isAdded = answer !== undefined && (await addPasskey(session, answer, label))
      return isAdded ? undefined : 'The passkey could not be added. Try again.'
    }
    case 'rename':
      await session.db.run('owner_rename_passkey', { passkey: id, label })
      return undefined
    default: {
      const outcome = await removePasskey(session, { id, label })
      return outcome === 'last' ? 'This is the only way to sign in. Add another first.' : undefined
    }
  }
}

async function showPasskeys(c: Visit, problem?: string) {
  const me = await owner(c)
  const security = await readSecurity(c)
  const proof = proofFirst(c, security)
  if (proof) return proof
  return show(
    c,
    <Page
      c={c}
      title="Passkeys"
      owner={me}
      back={{ to: '/security', label: 'Security' }}
      lead="A passkey signs in and confirms without a password. It works on this site alone."
      scripts={['passkey']}
    >
      {problem && <Notice kind="danger">{problem}</Notice>}
      {security.passkeys.map((passkey) => (
        <Passkey c={c} passkey={passkey} />
      ))}
      {security.passkeys.length === 0 && <Empty>There is no passkey yet.</Empty>}
      <AddForm c={c} guardedUntil={security.guarded_until} />
    </Page>,
    problem === undefined ? 200 : 422,
  )
}

function AddForm({ c, guardedUntil }: { c: Visit; guardedUntil: string | null }) {
  return (
    <Section title="Add a passkey">
      {guardedUntil === null ? (
        <>
          <noscript>
            <p>Adding a passkey needs JavaScript in your browser.</p>
          </noscript>
          <PasskeyForm c={c} act="create" action={path} label="Add a passkey" kind="main">
            <input type="hidden" name="deed" value="add" />
            <Field
              name="label"
              label="Name"
              hint="To tell it from others, such as the name of the device."
              maxlength={64}
            />
          </PasskeyForm>
        </>
      ) : (
        <p>
          A recovery code was used lately. Passkeys can be added and removed from{' '}
          <Time at={guardedUntil} /> on.
        </p>
      )}
    </Section>
  )
}

function Passkey({ c, passkey }: { c: Visit; passkey: Security['passkeys'][number] }) {
  const { id, label, created_at, last_used_at } = passkey
  return (
    <Section title={label}>
      <p>
        Added <Time at={created_at} />
        {last_used_at ? ', last used ' : ', never used'}
        {last_used_at && <Time at={last_used_at} />}
      </p>
      <Form c={c} class="row">
        <input type="hidden" name="passkey" value={id} />
        <div class="field">
          <label for={`label-${id}`}>Name</label>
          <input id={`label-${id}`} name="label" value={label} maxlength={64} required />
        </div>
        <Button kind="plain" name="deed" value="rename">
          Rename
        </Button>
        <Button kind="danger" name="deed" value="remove">
          Remove
        </Button>
      </Form>
    </Section>
  )
}
