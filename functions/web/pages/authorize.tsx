import type { AuthorizationRequest } from '../../../shared/oauth/authorization-request.ts'
import { readAuthorizationRequest } from '../../../shared/oauth/authorization-request.ts'
import { denyAccess, grantAccess } from '../../../shared/oauth/grant.ts'
import { shownHost } from '../../../shared/oauth/redirect-uri.ts'
import { lifeOf, meetApp } from '../data/apps.ts'
import { canPay, capProblem, capsIn } from '../data/caps.ts'
import { levelsWithin } from '../data/levels.ts'
import { fields, owner } from '../frame.ts'
import { Page, show } from '../layout.tsx'
import { ownSession } from '../own-session.ts'
import { Asker } from '../parts/asker.tsx'
import { FrozenNotice } from '../parts/attention.tsx'
import { ConsentForm, DenyForm } from '../parts/consent-form.tsx'
import { Notice, SendAgain, Time } from '../parts/show.tsx'
import { keepIfUnproven, takeTyped } from '../typed.ts'
import type { Routes, Visit } from '../visit.ts'

export const routes: Routes = (app) => {
  app.get('/authorize', (c) =>
    meet(c, async (request) => showConsent(c, request, await typedFor(c, request))),
  )
  app.post('/authorize', (c) => meet(c, (request) => decide(c, request)))
}

/**
 * What the app asks for is read for owners alone: to find out who it is may take a request to its
 * host, and nobody is sent elsewhere before signing in here (RFC 9700 section 4.11.2).
 */
async function meet(c: Visit, go: (request: AuthorizationRequest) => Promise<Response>) {
  await owner(c)
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

async function decide(c: Visit, request: AuthorizationRequest): Promise<Response> {
  const form = await fields(c)
  if (form.get('decision') === 'denied') return leave(c, denyAccess(c.get('world'), request))
  keepIfUnproven(c, form)
  const level = levelsWithin(request.scopes).find(({ name }) => name === form.get('level'))
  if (!level) return showConsent(c, request, form, 'Choose what the app may do.')
  const caps = canPay(level.scopes) ? capsIn(form) : null
  if (caps === undefined) return showConsent(c, request, form, capProblem)
  const location = await grantAccess(await ownSession(c), request, {
    scopes: level.scopes,
    ...(caps && { maxPerPaymentUsdMicros: caps.each, maxPerDayUsdMicros: caps.day }),
    days: lifeOf(form.get('days')),
  })
  return leave(c, location)
}

/** What was typed for this app; what was typed for another fills in nothing. */
async function typedFor(
  c: Visit,
  { client }: AuthorizationRequest,
): Promise<URLSearchParams | undefined> {
  const typed = takeTyped(c, await owner(c))
  return typed?.get('client') === client.id ? typed : undefined
}

async function showConsent(
  c: Visit,
  request: AuthorizationRequest,
  typed?: URLSearchParams,
  problem?: string,
) {
  const me = await owner(c)
  const { guarded_until, caps, namesakes } = await meetApp(me, request)
  const levels = levelsWithin(request.scopes)
  const mayAllow = !me.account.isFrozen && !guarded_until
  return show(
    c,
    <Page
      c={c}
      title="Let this app into your account?"
      owner={me}
      lead={`It would act in the account ${me.account.alias}.`}
      scripts={['considered']}
    >
      {problem && (
        <Notice kind="danger" title="Nothing was allowed">
          {problem}
        </Notice>
      )}
      {typed && problem === undefined && <SendAgain />}
      {me.account.isFrozen && <FrozenNotice />}
      {guarded_until && <GuardedNotice until={guarded_until} />}
      <Asker request={request} namesakes={namesakes} />
      {mayAllow && (
        <ConsentForm c={c} request={request} levels={levels} caps={caps} typed={typed} />
      )}
      <DenyForm c={c} />
    </Page>,
    problem === undefined ? 200 : 400,
  )
}

function GuardedNotice({ until }: { until: string }) {
  return (
    <Notice kind="warning" title="A recovery code was used lately">
      Until <Time at={until} /> no app can be let in.
    </Notice>
  )
}

/** Nobody is sent to an address that is not the app's own (RFC 6749 section 4.1.2.1). */
async function showRefused(c: Visit, reason: string) {
  return show(
    c,
    <Page c={c} title="This app cannot be let in" owner={await owner(c)}>
      <p>{reason}</p>
      <p>Nothing was allowed. Go back to the app and start there again.</p>
    </Page>,
    400,
  )
}

/**
 * The app is told what it asked wrongly when the owner goes on: any link could lead here, so nobody is
 * sent by it to an address that its sender chose (RFC 9700 section 4.11.2).
 */
async function showWrong(c: Visit, location: string) {
  return show(
    c,
    <Page c={c} title="This app asked wrongly" owner={await owner(c)}>
      <p>Nothing was allowed. Go on only if you have just come from this app.</p>
      <WayBack location={location} />
    </Page>,
    400,
  )
}

/**
 * Sends the browser to the app by a page and not by a redirect: browsers hold all redirects of a form
 * against `form-action`, those of the app's own hosts among them, and ours is to stay closed.
 */
function leave(c: Visit, location: string) {
  c.header('refresh', `0;url=${location}`)
  return show(
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
