/** An opened hosted action: the browser that opened the link performs it. */
import { Page, sendPage } from '../layout.tsx'
import { Button, Form, LinkButton } from '../ui/form.tsx'
import { type PageContext, webAppPath } from '../visit.ts'
import { type ActionView, Decline, stepPath, titleOf } from './action-steps.tsx'
import { DepositInstructions, DepositRouteChoice, depositRouteOf } from './deposit-address.tsx'
import { showLoginStep } from './enter-login.tsx'
import { WalletPanel } from './wallet.tsx'

const refreshSeconds = 10

/** Shows the page on which the action is performed. */
export function showOpenedAction(c: PageContext, shown: ActionView) {
  switch (shown.action.type) {
    case 'login':
      return showSignInStep(c, shown)
    case 'deposit':
    case 'walletconnect':
      return showDepositStep(c, shown)
    case 'human_verification':
      return showHumanVerificationStep(c, shown)
    case 'website_login':
      return showLoginStep(c, shown)
  }
}

function showSignInStep(c: PageContext, { action, alias }: ActionView) {
  return sendPage(
    c,
    <Page c={c} title={titleOf(action)} lead={`Sign in as the owner of ${alias}.`}>
      <p>If you are signed in to another account in this browser, sign out of it first.</p>
      <div class="actions">
        <LinkButton kind="main" to="/login?next=/web">
          To sign-in
        </LinkButton>
        <Decline c={c} />
      </div>
    </Page>,
  )
}

function showDepositStep(c: PageContext, { action, alias, address }: ActionView) {
  const { config } = c.get('world')
  const way = depositRouteOf(config, action.asked, new URL(c.req.url).searchParams)
  if (!way || address === null) throw new Error('an opened deposit has neither way nor address')
  const byWallet = action.type === 'walletconnect'
  const { WALLETCONNECT_PROJECT_ID: projectId, WALLETCONNECT_RELAY_URL: url } = config
  const relay = byWallet && projectId ? { url, projectId } : undefined
  c.set('walletRelay', relay)
  return sendPage(
    c,
    <Page
      c={c}
      title={titleOf(action)}
      lead={`To the account of ${alias}.`}
      scripts={byWallet ? ['copy', 'watch', 'wallet'] : ['copy', 'watch']}
      refreshSeconds={refreshSeconds}
    >
      <DepositRouteChoice way={way} path={c.req.path} />
      {byWallet ? (
        <WalletPanel
          c={c}
          way={way}
          address={address}
          connectPath={stepPath(c, 'connect')}
          relay={relay}
        />
      ) : (
        <DepositInstructions way={way} address={address} config={c.get('world').config} />
      )}
      <p
        class="waiting"
        role="status"
        data-watch={webAppPath + stepPath(c, 'status')}
        data-seen={action.status}
      >
        Nothing has arrived yet. This page shows it within a minute of the transfer.
      </p>
      <Decline c={c} />
    </Page>,
  )
}

function showHumanVerificationStep(c: PageContext, { action }: ActionView) {
  return sendPage(
    c,
    <Page
      c={c}
      title={titleOf(action)}
      lead="Your agent wants to know that a person is there, not a program."
    >
      <div class="actions">
        <Form c={c} action={stepPath(c, 'verify')}>
          <Button>I am here</Button>
        </Form>
        <Decline c={c} />
      </div>
    </Page>,
  )
}
