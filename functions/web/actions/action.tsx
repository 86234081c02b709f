/**
 * The page of a hosted action's link, on which a person does what the agent asked for or declines. A GET
 * changes nothing, because mail scanners open links too.
 */
import { securityEventOf } from '../../../shared/auth/new-session.ts'
import { readAddress } from '../../../shared/chains/evm/address.ts'
import { fail, isRefusal, Rejection } from '../../../shared/contract/errors.ts'
import { goTo, readFormFields, requireOwner } from '../frame.ts'
import { Page, sendPage } from '../layout.tsx'
import { browserOf, proofFirst, readSecurity } from '../session.ts'
import { Button, Form, LinkButton } from '../ui/form.tsx'
import { type Owner, type PageContext, type Routes, webAppPath } from '../visit.ts'
import {
  showActionUsedElsewhere,
  showEndedAction,
  showFinishedAction,
  showOfferedAction,
  showOwnerOnlyAction,
} from './action-states.tsx'
import { type ActionView, Decline, stepPath, titleOf } from './action-steps.tsx'
import { DepositInstructions, DepositRouteChoice, depositRouteOf } from './deposit-address.tsx'
import { showLoginStep } from './enter-login.tsx'
import {
  connectWallet,
  enterLogin,
  heldLink,
  type LinkView,
  readHostedLink,
  takeStep,
} from './hosted-link.ts'
import { WalletPanel } from './wallet.tsx'

/** Routes that show the link, open it, and take each step of its action. */
export const routes: Routes = (app) => {
  app.get('/action/:token', async (c) => {
    // Reads the owner first: if one is signed in, the forms of this page are for that account.
    await knownOwner(c)
    const seen = await takeStep(c, 'link_look')
    return (await ownerFirst(c, seen)) ?? showSeen(c, seen)
  })
  app.get('/action/:token/status', async (c) => {
    const { action } = await takeStep(c, 'link_look')
    return c.text(action?.status ?? 'used')
  })
  app.post('/action/:token/open', async (c) => {
    const me = await knownOwner(c)
    const seen = await readHostedLink(c, me)
    return seen.action?.type === 'login' ? signInForAction(c, seen, me) : showAgain(c)
  })
  app.post('/action/:token/decline', async (c) => {
    await takeStep(c, 'link_decline')
    return showAgain(c)
  })
  app.post('/action/:token/verify', async (c) => {
    await takeStep(c, 'link_verify')
    return showAgain(c)
  })
  app.post('/action/:token/enter', enterAction)
  app.post('/action/:token/connect', async (c) => {
    // Wallets name themselves in lower case, and the index of deposits does not.
    const named = readAddress((await readFormFields(c)).get('wallet') ?? '')
    if ('refused' in named) throw new Rejection(fail('invalid_request'))
    await connectWallet(c, named.address)
    return showAgain(c)
  })
}

function showAgain(c: PageContext): Response {
  return goTo(c, `/action/${c.req.param('token')}`)
}

/** Returns the page for a visitor who must sign in or prove themselves first; undefined for all others. */
async function ownerFirst(c: PageContext, { action, alias }: LinkView) {
  if (action?.type !== 'website_login') return undefined
  if (action.status === 'expired' || action.status === 'declined') return undefined
  const me = await knownOwner(c)
  if (me?.account.alias !== alias) return showOwnerOnlyAction(c, me)
  return action.status === 'opened' ? proofFirst(c, await readSecurity(c)) : undefined
}

function showSeen(c: PageContext, seen: LinkView) {
  const { action } = seen
  if (!action) return showActionUsedElsewhere(c)
  switch (action.status) {
    case 'pending':
      return showOfferedAction(c, { ...seen, action })
    case 'opened':
      return showOpenedAction(c, { ...seen, action })
    case 'finished':
      return showFinishedAction(c, { ...seen, action })
    case 'expired':
    case 'declined':
      return showEndedAction(c, { ...seen, action })
  }
}

/** Finishes a login link for an owner who is signed in already; sends all others to sign in. */
async function signInForAction(
  c: PageContext,
  seen: LinkView,
  me: Owner | undefined,
): Promise<Response> {
  if (!me) return goTo(c, '/login?next=/web')
  if (me.account.alias !== seen.alias || seen.action?.status !== 'opened') return showAgain(c)
  const { token_digest, browser } = await heldLink(c)
  await me.db.run('owner_finish_login_link', { token_digest, browser })
  return goTo(c, '')
}

async function enterAction(c: PageContext) {
  const form = await readFormFields(c)
  const seen = await takeStep(c, 'link_look')
  const { action } = seen
  if (action?.type !== 'website_login' || action.status !== 'opened') return showAgain(c)
  const me = await knownOwner(c)
  if (me?.account.alias !== seen.alias) return showAgain(c)
  const username = (form.get('username') ?? '').trim()
  const named = { site: action.asked.site ?? '', username }
  const stored = await enterLogin(c, me, form, named, securityEventOf(c.get('world'), browserOf(c)))
  if (stored === 'exists') return showLoginStep(c, { ...seen, action }, { why: stored, username })
  if (!isRefusal(stored)) return showAgain(c)
  if (stored.refusal !== 'credential_refused') throw new Rejection(stored)
  const why = { refused: stored.message ?? '' }
  return showLoginStep(c, { ...seen, action }, { why, username })
}

async function knownOwner(c: PageContext): Promise<Owner | undefined> {
  try {
    return await requireOwner(c)
  } catch (error) {
    if (error instanceof Rejection && error.refusal.refusal === 'unauthorized') return undefined
    throw error
  }
}

const refreshSeconds = 10

/** Shows the page on which the action is performed. */
function showOpenedAction(c: PageContext, shown: ActionView) {
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
          Go to sign-in
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
        Nothing has arrived yet. A transfer shows here within a minute.
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
      lead="Your agent wants to know that a person is present, not a program."
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
