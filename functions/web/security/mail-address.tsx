/** The page on which the owner changes the mail address, and stops a change that is pending. */
import {
  askMailAddress,
  confirmMailAddress,
  stopMailAddress,
} from '../../../shared/auth/mail-address.ts'
import { email as emailField } from '../../../shared/contract/fields.ts'
import { canonicalEmail } from '../../../shared/mail/address.ts'
import { aliasOf } from '../../../shared/mailbox/address.ts'
import { goTo, readFormFields, requireOwner } from '../frame.ts'
import { Page, sendPage } from '../layout.tsx'
import { ownerSessionOf, proofFirst, readSecurity, type Security } from '../session.ts'
import { Button, CodeField, Field, Form } from '../ui/form.tsx'
import { Notice, Section, Time } from '../ui/show.tsx'
import type { PageContext, Routes } from '../visit.ts'

const path = '/security/mail-address'

/** Routes that show the change, ask for one, take its code and stop it. */
export const routes: Routes = (app) => {
  app.get(path, (c) => showMailAddress(c))
  app.post(path, async (c) => {
    const form = await readFormFields(c)
    const session = await ownerSessionOf(c)
    const deed = form.get('deed')
    if (deed === 'stop' || deed === 'restart') {
      const isStopped = await stopMailAddress(session)
      if (deed === 'restart') return goTo(c, path)
      return goTo(c, '/security', isStopped ? 'mail_change_stopped' : 'mail_change_over')
    }
    const security = await readSecurity(c)
    const code = form.get('code')
    const error =
      code === null
        ? await ask(c, security, form.get('email')?.trim() ?? '')
        : await enter(c, security, code.replaceAll(/\s/g, ''))
    return error === undefined ? goTo(c, path) : showMailAddress(c, error)
  })
}

/** Sends the code; returns what is wrong with the address, if anything is. */
async function ask(c: PageContext, { email }: Security, typed: string) {
  const wanted = canonicalEmail(typed)
  if (!emailField.safeParse(typed).success) return 'This is not a valid email address.'
  if (wanted === email) return 'This is already your email address.'
  if (aliasOf(c.get('world').config, wanted) !== undefined) {
    return 'Agents read the emails of this domain. Enter an address that only you read.'
  }
  await askMailAddress(await ownerSessionOf(c), typed)
  return undefined
}

async function enter(c: PageContext, { email: old, mail_change }: Security, code: string) {
  const email = mail_change?.email ?? ''
  const isRight = await confirmMailAddress(await ownerSessionOf(c), { code, email, old })
  return isRight ? undefined : 'This code is wrong or has expired. Use the newest email.'
}

async function showMailAddress(c: PageContext, error?: string) {
  const me = await requireOwner(c)
  const security = await readSecurity(c)
  const { email, mail_change: change } = security
  // Whoever is signed in may stop a change, so its page takes no proof.
  const proof = change === null ? proofFirst(c, security) : undefined
  if (proof) return proof
  return sendPage(
    c,
    <Page
      c={c}
      title="Email address"
      owner={me}
      back={{ to: '/security', label: 'Security' }}
      lead={
        <>
          You sign in with <strong>{email}</strong>, and notices go there.
        </>
      }
    >
      {change === null ? (
        <AskForm c={c} error={error} />
      ) : (
        <Change c={c} change={change} error={error} />
      )}
    </Page>,
    error === undefined ? 200 : 422,
  )
}

type Failed = { error: string | undefined }

function AskForm({ c, error }: { c: PageContext } & Failed) {
  return (
    <Form c={c}>
      <Field
        name="email"
        label="New email address"
        hint="We send a code to it. 72 hours after you enter the code here, the new address replaces the old one."
        type="email"
        required
        autocomplete="email"
        maxlength={254}
        {...(error === undefined ? {} : { error })}
      />
      <Button>Send the code</Button>
    </Form>
  )
}

type ChangeProps = { c: PageContext; change: NonNullable<Security['mail_change']> } & Failed

function Change({ c, change: { email, takes_effect_at: at }, error }: ChangeProps) {
  return (
    <>
      {at === null ? (
        <Section title="Enter the code">
          <p>
            We sent an email to <strong>{email}</strong>. Its code is valid for an hour.
          </p>
          <Form c={c}>
            <CodeField {...(error === undefined ? {} : { error })} />
            <Button>Continue</Button>
          </Form>
        </Section>
      ) : (
        <Notice kind="warning" title="Your email address changes">
          <Time at={at} /> <strong>{email}</strong> replaces it. Until then, the old address stays
          in use. While the account is frozen or on hold, the change waits.
        </Notice>
      )}
      <Form c={c}>
        <Button
          kind={at === null ? 'plain' : 'danger'}
          name="deed"
          value={at === null ? 'restart' : 'stop'}
        >
          {at === null ? 'Use another address' : 'Stop the change'}
        </Button>
      </Form>
    </>
  )
}
