/** The page of a link on which the owner enters the login of a site, which agents use unread. */
import { Page, sendPage } from '../layout.tsx'
import { Button, Form } from '../ui/form.tsx'
import { ForeignLetters, Notice, Site } from '../ui/show.tsx'
import { SecretFields, UsernameField } from '../vault/login-fields.tsx'
import { type PageContext, webAppPath } from '../visit.ts'
import { type ActionView, Decline, stepPath, titleOf } from './action-steps.tsx'

/** Reason why a login was not stored, and the user name to show again. */
export type NotStored = { why: 'exists' | { refused: string }; username: string }

/** Shows the form for the login. */
export function showLoginStep(
  c: PageContext,
  { action, alias }: ActionView,
  notStored?: NotStored,
) {
  const { site = '', username = '' } = action.asked
  return sendPage(
    c,
    <Page
      c={c}
      title={titleOf(action)}
      lead={`It is stored in the vault of ${alias}. Agents of the account sign in with it, and see it only if you let them.`}
    >
      {notStored && <WhyNot {...notStored} />}
      <p>
        Site: <Site origin={site} />
      </p>
      <ForeignLetters domain={new URL(site).hostname} />
      <Form c={c} action={stepPath(c, 'enter')}>
        <UsernameField value={notStored?.username ?? username} />
        <SecretFields />
        <div class="actions">
          <Button>Save to the vault</Button>
        </div>
      </Form>
      <Decline c={c} />
    </Page>,
    notStored ? 409 : 200,
  )
}

function WhyNot({ why }: NotStored) {
  if (why !== 'exists') {
    return (
      <Notice kind="danger" title="Nothing is stored yet">
        {why.refused}
      </Notice>
    )
  }
  return (
    <Notice kind="warning" title="This login is already in the vault">
      A link cannot change a stored login.{' '}
      <a href={`${webAppPath}/vault`}>Change it in the vault</a>.
    </Notice>
  )
}
