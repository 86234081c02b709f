/** A hosted action at work: the browser that opened the link does what it is for. */
import { challengeFor } from '../../../shared/auth/proof-of-work.ts'
import { Page, show } from '../layout.tsx'
import type { Visit } from '../visit.ts'
import { pagesBelow } from '../visit.ts'
import type { Shown } from './action-steps.tsx'
import { Decline, stepPath, titleOf } from './action-steps.tsx'
import { Choosing, SendTo, wayOf } from './deposit.tsx'
import { enteringLogin } from './enter-login.tsx'
import { Button, Form, LinkButton } from './form.tsx'
import { WalletPanel } from './wallet.tsx'
import { NeedsScripts, Work } from './work.tsx'

const refreshSeconds = 10

export function opened(c: Visit, shown: Shown) {
  switch (shown.action.type) {
    case 'login':
      return signingIn(c, shown)
    case 'deposit':
    case 'walletconnect':
      return depositing(c, shown)
    case 'human_verification':
      return confirming(c, shown)
    case 'website_login':
      return enteringLogin(c, shown)
  }
}

function signingIn(c: Visit, { action, alias }: Shown) {
  return show(
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

function depositing(c: Visit, { action, alias, address }: Shown) {
  const { config } = c.get('world')
  const way = wayOf(config, action.asked, new URL(c.req.url).searchParams)
  if (!way || address === null) throw new Error('an opened deposit has neither way nor address')
  const byWallet = action.type === 'walletconnect'
  const { WALLETCONNECT_PROJECT_ID: projectId, WALLETCONNECT_RELAY_URL: url } = config
  const relay = byWallet && projectId ? { url, projectId } : undefined
  c.set('walletRelay', relay)
  return show(
    c,
    <Page
      c={c}
      title={titleOf(action)}
      lead={`To the account of ${alias}.`}
      scripts={byWallet ? ['copy', 'watch', 'wallet'] : ['copy', 'watch']}
      refreshSeconds={refreshSeconds}
    >
      <Choosing way={way} path={c.req.path} />
      {byWallet ? (
        <WalletPanel
          c={c}
          way={way}
          address={address}
          connectPath={stepPath(c, 'connect')}
          relay={relay}
        />
      ) : (
        <SendTo way={way} address={address} />
      )}
      <p
        class="waiting"
        role="status"
        data-watch={pagesBelow + stepPath(c, 'status')}
        data-seen={action.status}
      >
        Nothing has arrived yet. This page shows it within a minute of the transfer.
      </p>
      <Decline c={c} />
    </Page>,
  )
}

async function confirming(c: Visit, { action }: Shown) {
  const challenge = await challengeFor(c.get('world'), action.id)
  return show(
    c,
    <Page
      c={c}
      title={titleOf(action)}
      lead="Your agent wants to know that a person is there, not a program."
      scripts={['human']}
    >
      <NeedsScripts />
      <div class="actions">
        <Form c={c} action={stepPath(c, 'verify')} data-challenge={challenge}>
          <Button>I am here</Button>
          <Work />
        </Form>
        <Decline c={c} />
      </div>
    </Page>,
  )
}
