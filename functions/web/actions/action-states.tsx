/** A hosted action before it is opened and after it is over. */
import type { Child } from 'hono/jsx'
import { assetOf } from '../../../shared/chains/registry.ts'
import type { HostedAction } from '../../../shared/hosted/action.ts'
import { parseAmount } from '../../../shared/money/amount.ts'
import { Page, sendPage } from '../layout.tsx'
import { Button, Form, LinkButton } from '../ui/form.tsx'
import { Site, Time } from '../ui/show.tsx'
import type { Owner, PageContext } from '../visit.ts'
import { Outcome, WayBack } from './action-outcome.tsx'
import { type ActionView, Decline, stepPath, titleOf } from './action-steps.tsx'

/** Shows the purpose of a link that nobody has opened yet, with the choice to continue or decline. */
export function showOfferedAction(c: PageContext, { action, alias }: ActionView) {
  return sendPage(
    c,
    <Page c={c} title={titleOf(action)} lead={purposeOf(action, alias)}>
      <p>
        The link works until <Time at={action.expires_at} isInSentence />, but only in the browser
        that continues first.
      </p>
      <div class="actions">
        <Form c={c} action={stepPath(c, 'open')}>
          <Button>Continue</Button>
        </Form>
        <Decline c={c} />
      </div>
    </Page>,
  )
}

function purposeOf({ type, asked }: HostedAction, alias: string): Child {
  const what = [asked.amount, asked.token ?? 'money'].join(' ').trim()
  switch (type) {
    case 'login':
      return `${alias}’s agent is asking you to sign in to the account.`
    case 'deposit':
      return `${alias}’s agent is asking you to send ${what} to the account.`
    case 'walletconnect':
      return `${alias}’s agent is asking you to send ${what} to the account, from a wallet in this browser.`
    case 'human_verification':
      return `${alias}’s agent is asking a person to confirm that they are present.`
    case 'website_login':
      return (
        <>
          {alias}’s agent is asking for your login at <Site origin={asked.site ?? ''} />. You enter
          it here, and the agent uses it without seeing it.
        </>
      )
  }
}

/** Shows that a login is asked of the owner only: others must not learn for which site and account. */
export function showOwnerOnlyAction(c: PageContext, me: Owner | undefined) {
  const next = encodeURIComponent(c.req.path)
  return sendPage(
    c,
    <Page c={c} title="For the owner of the account" {...(me ? { owner: me } : {})}>
      {me ? (
        <p>
          This link belongs to another account. Only the owner of that account can see what it asks
          for. Never enter your own login for somebody else.
        </p>
      ) : (
        <>
          <p>Sign in as the owner of the account to see what its agent asks for.</p>
          <div class="actions">
            <LinkButton kind="main" to={`/login?next=${next}`}>
              Sign in
            </LinkButton>
          </div>
        </>
      )}
    </Page>,
    me ? 403 : 200,
  )
}

/** Shows that another browser has opened the link. */
export function showActionUsedElsewhere(c: PageContext) {
  return sendPage(
    c,
    <Page c={c} title="This link has been used">
      <p>It was opened in another browser and works only there. Ask your agent for a new one.</p>
    </Page>,
    410,
  )
}

/** Shows that the link has expired or was declined. */
export function showEndedAction(c: PageContext, { action }: ActionView) {
  const isDeclined = action.status === 'declined'
  return sendPage(
    c,
    <Page c={c} title={isDeclined ? 'You declined' : 'This link has expired'}>
      <p>
        {isDeclined
          ? 'The agent is told. Nothing else happened.'
          : 'It no longer works. Ask your agent for a new one.'}
      </p>
      <WayBack action={action} />
    </Page>,
    isDeclined ? 200 : 410,
  )
}

/** Shows that the action is finished, with its result. */
export function showFinishedAction(c: PageContext, { action }: ActionView) {
  const arrived = isLess(action) ? 'Less arrived than was asked for' : 'The money has arrived'
  return sendPage(
    c,
    <Page c={c} title={action.deposit ? arrived : 'Done'}>
      <Outcome action={action} />
      <WayBack action={action} />
    </Page>,
  )
}

/** True if a deposit is less than was asked for: anybody can send any amount. */
function isLess({ asked, deposit }: HostedAction): boolean {
  if (!deposit || asked.amount === undefined) return false
  const wanted = parseAmount(asked.amount, assetOf(deposit).token.decimals) ?? 0n
  return deposit.amount_atomic < wanted
}
