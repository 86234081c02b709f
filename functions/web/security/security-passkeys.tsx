/** The page of passkeys, which the owner adds, renames and removes. */
import { addPasskey, beginPasskey, removePasskey } from '../../../shared/auth/owner-passkeys.ts'
import { readPasskeyRegistration } from '../../../shared/auth/passkey.ts'
import { goTo, readFormFields, requireOwner } from '../frame.ts'
import { Page, sendPage } from '../layout.tsx'
import { ownerSessionOf, proofFirst, readSecurity, type Security } from '../session.ts'
import { Button, Field, Form } from '../ui/form.tsx'
import { PasskeyForm } from '../ui/passkey.tsx'
import { Empty, Notice, Section, Time } from '../ui/show.tsx'
import type { PageContext, Routes } from '../visit.ts'

const path = '/security/passkeys'

/** Routes that list the passkeys and change them. */
export const routes: Routes = (app) => {
  app.get(path, (c) => showPasskeys(c))
  app.post(path, async (c) => {
    const form = await readFormFields(c)
    const problem = await changePasskeys(c, form)
    if (problem === undefined) return goTo(c, path)
    return problem === 'held' ? goTo(c, '/hold') : showPasskeys(c, problem)
  })
  app.post(`${path}/options`, async (c) =>
    c.json(await beginPasskey(await ownerSessionOf(c), await readSecurity(c))),
  )
}

/** Sentence for an owner whose passkey was not added. */
const otherwise =
  'Try again, or use another device. Until then, your current way to sign in keeps working.'
const notAdded =
  'The passkey could not be added. It came too late, or the device did not verify you by ' +
  `PIN, fingerprint or face. ${otherwise}`

/** Changes a passkey; returns the reason if nothing was changed, or `held` if a hold has to end first. */
async function changePasskeys(c: PageContext, form: URLSearchParams): Promise<string | undefined> {
  const session = await ownerSessionOf(c)
  const id = form.get('passkey') ?? ''
  const label = form.get('label')?.trim().slice(0, 64).toWellFormed() || 'Passkey'
  switch (form.get('deed') ?? '') {
    case 'add': {
      const answer = readPasskeyRegistration(form.get('answer') ?? '')
      const isAdded = answer !== undefined && (await addPasskey(session, answer, label))
      return isAdded ? undefined : notAdded
    }
    case 'rename':
      await session.db.run('owner_rename_passkey', { passkey: id, label })
      return undefined
    default: {
      const outcome = await removePasskey(session, {
        id,
        label,
        isLast: (await readSecurity(c)).passkeys.length === 1,
      })
      if (outcome === 'held') return outcome
      return outcome === 'last' ? 'This is the only way to sign in. Add another first.' : undefined
    }
  }
}

async function showPasskeys(c: PageContext, problem?: string) {
  const me = await requireOwner(c)
  const security = await readSecurity(c)
  const proof = proofFirst(c, security)
  if (proof) return proof
  return sendPage(
    c,
    <Page
      c={c}
      title="Passkeys"
      owner={me}
      back={{ to: '/security', label: 'Security' }}
      lead="A passkey signs in and confirms without a password. It works only on this site."
      scripts={['passkey']}
    >
      {problem && <Notice kind="danger">{problem}</Notice>}
      {security.passkeys.map((passkey) => (
        <Passkey c={c} passkey={passkey} />
      ))}
      {security.passkeys.length === 0 && <Empty>There is no passkey yet.</Empty>}
      <AddPasskeyForm c={c} />
    </Page>,
    problem === undefined ? 200 : 422,
  )
}

function AddPasskeyForm({ c }: { c: PageContext }) {
  return (
    <Section title="Add a passkey">
      <noscript>
        <p>Adding a passkey needs JavaScript in your browser.</p>
      </noscript>
      <PasskeyForm
        c={c}
        act="create"
        action={path}
        label="Add a passkey"
        kind="main"
        otherwise={otherwise}
      >
        <input type="hidden" name="deed" value="add" />
        <Field
          name="label"
          label="Name"
          hint="To tell it apart from others, such as the name of the device."
          maxlength={64}
        />
      </PasskeyForm>
    </Section>
  )
}

function Passkey({ c, passkey }: { c: PageContext; passkey: Security['passkeys'][number] }) {
  const { id, label, created_at, last_used_at } = passkey
  return (
    <Section title={label}>
      <p>
        Added <Time at={created_at} isInSentence />
        {last_used_at ? ', last used ' : ', never used'}
        {last_used_at && <Time at={last_used_at} isInSentence />}
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
