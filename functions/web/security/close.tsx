/** The page on which the owner closes the account. */
import { closeAccount } from '../../../shared/auth/close-account.ts'
import { goTo, readFormFields, requireOwner } from '../frame.ts'
import { Page, sendPage } from '../layout.tsx'
import { ownerSessionOf, proofFirst, readSecurity } from '../session.ts'
import { Button, Field, Form } from '../ui/form.tsx'
import { Section } from '../ui/show.tsx'
import { type PageContext, type Routes, webAppPath } from '../visit.ts'
import { type Obstacle, readObstacles } from './close-obstacles.ts'

/** Routes that show what is in the way or what happens, and close the account. */
export const routes: Routes = (app) => {
  app.get('/security/close', (c) => showClose(c))
  app.post('/security/close', async (c) => {
    const me = await requireOwner(c)
    const alias = (await readFormFields(c)).get('alias')?.trim().toLowerCase() ?? ''
    const obstacles = await readObstacles(c.get('world'), me)
    if (obstacles.length > 0) return showClose(c, obstacles)
    const outcome = await closeAccount(await ownerSessionOf(c), alias)
    if (outcome === 'closed') return goTo(c, '/closed')
    return showClose(c, undefined, outcome === 'other_alias')
  })
}

async function showClose(c: PageContext, known?: readonly Obstacle[], isOtherAlias = false) {
  const me = await requireOwner(c)
  const proof = proofFirst(c, await readSecurity(c))
  if (proof) return proof
  const obstacles = known ?? (await readObstacles(c.get('world'), me))
  const isOpen = obstacles.length === 0
  return sendPage(
    c,
    <Page
      c={c}
      title="Close the account"
      owner={me}
      back={{ to: '/security', label: 'Security' }}
      lead={isOpen ? 'You have 30 days to reopen it.' : 'Before you can close it:'}
    >
      {isOpen ? (
        <CloseForm c={c} alias={me.account.alias} isOtherAlias={isOtherAlias} />
      ) : (
        <Obstacles obstacles={obstacles} />
      )}
    </Page>,
    c.req.method === 'GET' ? 200 : 422,
  )
}

function Obstacles({ obstacles }: { obstacles: readonly Obstacle[] }) {
  return (
    <ul class="points">
      {obstacles.map(({ words, to, label }) => (
        <li>
          {words} <a href={webAppPath + to}>{label}</a>
        </li>
      ))}
    </ul>
  )
}

type CloseFormProps = { c: PageContext; alias: string; isOtherAlias: boolean }

function CloseForm({ c, alias, isOtherAlias }: CloseFormProps) {
  return (
    <>
      <Section title="What happens">
        <ul class="points">
          <li>
            The account is frozen. All keys, apps, mandates, links and requests end, and every
            session but this one. Limits and recipients become those of a new account.
          </li>
          <li>The mailbox no longer receives mail. Nobody else ever gets the alias {alias}.</li>
          <li>For 30 days you can sign in, export the activity, and reopen the account.</li>
          <li>
            After that your logins, emails, passkeys, codes, password and email address are erased
            for good. You can then open a new account with the same email address.
          </li>
          <li>Payments and the activity are kept for the records.</li>
          <li>
            The sealed key of the wallet is kept, so money that arrives late is not lost. You cannot
            move it here once the account is erased.
          </li>
        </ul>
      </Section>
      <Form c={c}>
        <Field
          name="alias"
          label={`Type ${alias} to confirm`}
          required
          autocomplete="off"
          maxlength={32}
          {...(isOtherAlias ? { error: 'This is not the alias of the account.' } : {})}
        />
        <Button kind="danger">Close the account</Button>
      </Form>
    </>
  )
}
