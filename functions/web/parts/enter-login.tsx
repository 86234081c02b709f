/** The page of a link on which the owner enters the login of a site, for agents to use unread. */
import { Page, show } from '../layout.tsx'
import type { Visit } from '../visit.ts'
import { pagesBelow } from '../visit.ts'
import type { Shown } from './action-steps.tsx'
import { Decline, stepPath, titleOf } from './action-steps.tsx'
import { Button, Form } from './form.tsx'
import { SecretFields, UsernameField } from './login-fields.tsx'
import { ForeignLetters } from './merchant.tsx'
import { Notice } from './show.tsx'
import { Site } from './site.tsx'

/** Why what was typed is not stored, and what of it may be shown again. */
export type NotStored = { why: 'exists' | { refused: string }; username: string }

export function enteringLogin(c: Visit, { action, alias }: Shown, notStored?: NotStored) {
  const { site = '', username = '' } = action.asked
  return show(
    c,
    <Page
      c={c}
      title={titleOf(action)}
      lead={`It goes into the vault of ${alias}. Agents of the account sign in with it, and see it only if you let them.`}
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
          <Button>Put it into the vault</Button>
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
    <Notice kind="warning" title="This login is in the vault already">
      A link can change nothing that is there.{' '}
      <a href={`${pagesBelow}/vault`}>Change it in the vault</a>.
    </Notice>
  )
}
