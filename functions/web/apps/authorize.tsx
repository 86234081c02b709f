/** The page of an app's OAuth request, on which the owner grants access within caps or denies it. */
import { sha256Hex } from '../../../shared/digest.ts'
import {
  type AuthorizationRequest,
  readAuthorizationRequest,
} from '../../../shared/oauth/authorization-request.ts'
import { shownHost } from '../../../shared/oauth/redirect-uri.ts'
import { denyAccess, grantAccess } from '../../../shared/oauth/token.ts'
import { readFormFields, requireOwner } from '../frame.ts'
import { canPay, capProblem, capsIn } from '../keys/caps-data.ts'
import { levelsWithin } from '../keys/levels.ts'
import { Page, sendPage } from '../layout.tsx'
import { ownerSessionOf } from '../own-session.ts'
import { markFormDraft, takeFormDraft } from '../typed.ts'
import { FrozenApprovalNotice } from '../ui/attention.tsx'
import { Notice, SendAgain } from '../ui/show.tsx'
import { type PageContext, type Routes, webAppPath } from '../visit.ts'
import { connectedBefore, lifeOf, meetApp, type Namesake } from './apps-data.ts'
import { RequestingApp } from './asker.tsx'
import { AuthorizeForm, DenyForm } from './consent-form.tsx'

/** Routes that show the request and take the decision. */
export const routes: Routes = (app) => {
  app.get('/authorize', (c) =>
    meet(c, async (request) => showConsent(c, request, await typedFor(c, request))),
  )
  app.post('/authorize', (c) => meet(c, (request) => decide(c, request)))
}

/**
 * Reads the request for signed-in owners only. To identify the app may take a request to its host, and
 * nobody is redirected elsewhere before signing in here (RFC 9700 section 4.11.2).
 */
async function meet(c: PageContext, go: (request: AuthorizationRequest) => Promise<Response>) {
  await requireOwner(c)
  const { searchParams } = new URL(c.req.url)
  const read = await readAuthorizationRequest(c.get('world'), searchParams)
  switch (read.kind) {
    case 'refused':
      return showRefused(c, read.reason)
    case 'sent_back':
      return showWrong(c, read.location)
    case 'asked':
      return go(read.request)
  }
}

async function decide(c: PageContext, request: AuthorizationRequest): Promise<Response> {
  const form = await readFormFields(c)
  if (form.get('decision') === 'denied') return leave(c, denyAccess(c.get('world'), request))
  const { namesakes } = await meetApp(await requireOwner(c), request)
  const before = connectedBefore(request, namesakes)
  if (form.get('shown') !== (await digestOf(request, before))) {
    return showConsent(c, request, undefined, 'What is shown here has changed. Look again.')
  }
  markFormDraft(c, form)
  const level = levelsWithin(request.scopes).find(({ name }) => name === form.get('level'))
  if (!level) return showConsent(c, request, form, 'Choose what the app may do.')
  const caps = canPay(level.scopes) ? capsIn(form) : null
  if (caps === undefined) return showConsent(c, request, form, capProblem)
  const location = await grantAccess(await ownerSessionOf(c), request, {
    scopes: level.scopes,
    ...(before && form.has('replaces') && { replaces: before.app }),
    ...(caps && { maxPerPaymentUsdMicros: caps.each, maxPerDayUsdMicros: caps.day }),
    days: lifeOf(form.get('days')),
  })
  return leave(c, location)
}

/**
 * Returns a digest of what the page shows: the app, whose document may change while it is shown, and the one that it
 * can replace.
 */
function digestOf(
  { client, redirectUri, scopes }: AuthorizationRequest,
  before: Namesake | undefined,
): Promise<string> {
  return sha256Hex(JSON.stringify([client, redirectUri, scopes, before?.app ?? null]))
}

/** Returns the kept input for this app; input for another app is not filled in. */
async function typedFor(
  c: PageContext,
  { client }: AuthorizationRequest,
): Promise<URLSearchParams | undefined> {
  const typed = takeFormDraft(c, await requireOwner(c))
  return typed?.get('client') === client.id ? typed : undefined
}

async function showConsent(
  c: PageContext,
  request: AuthorizationRequest,
  typed?: URLSearchParams,
  problem?: string,
) {
  const me = await requireOwner(c)
  const { caps, namesakes } = await meetApp(me, request)
  const levels = levelsWithin(request.scopes)
  const before = connectedBefore(request, namesakes)
  const mayAllow = !me.account.isFrozen && me.account.holdUntil === null
  return sendPage(
    c,
    <Page
      c={c}
      title="Let this app into your account?"
      owner={me}
      isDecision
      lead={`It would act in the account ${me.account.alias}.`}
      scripts={['considered']}
    >
      {problem && (
        <Notice kind="danger" title="Nothing was allowed">
          {problem}
        </Notice>
      )}
      {typed && problem === undefined && <SendAgain />}
      {me.account.isFrozen && <FrozenApprovalNotice />}
      <RequestingApp request={request} namesakes={namesakes} />
      {mayAllow ? (
        <AuthorizeForm
          c={c}
          request={request}
          shown={await digestOf(request, before)}
          levels={levels}
          caps={caps}
          mayReplace={before !== undefined}
          typed={typed}
        />
      ) : (
        <DenyForm c={c} />
      )}
    </Page>,
    problem === undefined ? 200 : 400,
  )
}

/** Shows the refusal and never redirects: the address may not be the app's (RFC 6749 section 4.1.2.1). */
async function showRefused(c: PageContext, reason: string) {
  return sendPage(
    c,
    <Page c={c} title="This app cannot be let in" owner={await requireOwner(c)}>
      <p>{reason}</p>
      <p>Nothing was allowed. Go back to the app and start there again.</p>
      <p>
        If that does not help, <a href={`${webAppPath}/keys`}>make an API key</a> and put it into
        the app’s configuration: it lets the app in without this page.
      </p>
    </Page>,
    400,
  )
}

/**
 * Shows what is wrong with the request and lets the owner continue to the app with the error. It does not
 * redirect by itself, because any link could lead here (RFC 9700 section 4.11.2).
 */
async function showWrong(c: PageContext, location: string) {
  return sendPage(
    c,
    <Page c={c} title="This app asked wrongly" owner={await requireOwner(c)}>
      <p>Nothing was allowed. Go on only if you have just come from this app.</p>
      <WayBack location={location} />
    </Page>,
    400,
  )
}

/**
 * Sends the browser to the app by a page and not by a redirect. Browsers check every redirect of a form,
 * those of the app's own hosts included, against `form-action`, and ours must stay closed.
 */
function leave(c: PageContext, location: string) {
  c.header('refresh', `0;url=${location}`)
  return sendPage(
    c,
    <Page c={c} title="Back to the app">
      <p>If nothing happens, go on yourself.</p>
      <WayBack location={location} />
    </Page>,
  )
}

function WayBack({ location }: { location: string }) {
  return (
    <p class="actions">
      <a class="button main" href={location}>
        Back to the app
      </a>{' '}
      <code class="long">{shownHost(location)}</code>
    </p>
  )
}
