/** The page of an app's OAuth request, on which the owner grants access within caps or denies it. */
import { sha256Hex } from '../../../shared/digest.ts'
import {
  type AuthorizationRequest,
  readAuthorizationRequest,
} from '../../../shared/oauth/authorization-request.ts'
import { isInstalledApp, shownHost } from '../../../shared/oauth/redirect-uri.ts'
import { denyAccess, grantAccess } from '../../../shared/oauth/token.ts'
import { readFormFields, requireOwner } from '../frame.ts'
import { levelOf, levelsWithin } from '../keys/caps.tsx'
import { Page, sendPage } from '../layout.tsx'
import { ownerSessionOf } from '../session.ts'
import { Facts, ForeignLetters, Notice, Time } from '../ui/show.tsx'
import {
  markFormDraft,
  type PageContext,
  type Routes,
  takeFormDraft,
  webAppPath,
} from '../visit.ts'
import { readChoice, sendAccessPage } from './access-form.tsx'
import { connectedBefore, meetApp, type Namesake } from './apps-data.ts'

/** Routes that show the request and take the decision. */
export const routes: Routes = (app) => {
  app.get('/authorize', (c) =>
    meet(c, async (request) => showConsent(c, request, await typedFor(c, request))),
  )
  app.post('/authorize', (c) => meet(c, (request) => decideAuthorization(c, request)))
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

async function decideAuthorization(
  c: PageContext,
  request: AuthorizationRequest,
): Promise<Response> {
  const form = await readFormFields(c)
  if (form.get('decision') === 'denied') return leave(c, denyAccess(c.get('world'), request))
  const { namesakes } = await meetApp(await requireOwner(c), request)
  const before = connectedBefore(request, namesakes)
  if (form.get('shown') !== (await digestOf(request, before))) {
    return showConsent(c, request, undefined, 'The request has changed. Review it again.')
  }
  markFormDraft(c, form)
  const choice = readChoice(form, request.scopes, before)
  if (typeof choice === 'string') return showConsent(c, request, form, choice)
  const location = await grantAccess(await ownerSessionOf(c), request, choice)
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
  /** Sentence about what is wrong; empty if it stands at its field. */
  problem?: string,
) {
  const me = await requireOwner(c)
  const { caps, namesakes } = await meetApp(me, request)
  const levels = levelsWithin(request.scopes)
  const before = connectedBefore(request, namesakes)
  return sendAccessPage(c, {
    me,
    title: 'Let this app into your account?',
    shown: <RequestingApp request={request} namesakes={namesakes} />,
    problem,
    form: {
      action: hereOf(c),
      hidden: { client: request.client.id, shown: await digestOf(request, before) },
      levels,
      chosen: levels.at(-1),
      caps,
      mayReplace: before !== undefined,
      typed,
    },
  })
}

/** Shows the refusal and never redirects: the address may not be the app's (RFC 6749 section 4.1.2.1). */
async function showRefused(c: PageContext, reason: string) {
  return sendPage(
    c,
    <Page c={c} title="This app cannot be connected" owner={await requireOwner(c)}>
      <p>{reason}</p>
      <p>Nothing was allowed. Go back to the app and start there again.</p>
      <p>
        If that does not help, <a href={`${webAppPath}/keys`}>make an API key</a> and put it into
        the app’s configuration: it gives the app access without this page.
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
    <Page c={c} title="The request of this app is not valid" owner={await requireOwner(c)}>
      <p>Nothing was allowed. Continue only if you have just come from this app.</p>
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
      <p>If nothing happens, use the button.</p>
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

/** Returns the path of this request; only the query carries what the app asks for. */
function hereOf(c: PageContext): string {
  return `/authorize${new URL(c.req.url).search}`
}

type RequestingAppProps = {
  request: AuthorizationRequest
  /** Connected apps that have the same name and are not known to be this one. */
  namesakes: readonly Namesake[]
}

/** Shows the app, what it asks for, and the warnings about it. */
function RequestingApp({ request, namesakes }: RequestingAppProps) {
  const { client, redirectHost, isLocal } = request
  const before = connectedBefore(request, namesakes)
  const others = namesakes.filter((namesake) => namesake !== before)
  return (
    <>
      <div class="headline">
        <p class="figure long">{client.host ?? `“${client.name}”`}</p>
        <p>
          It asks for: <strong>{levelOf(request.scopes).label}</strong>
        </p>
        <Facts
          facts={[
            ['It calls itself', client.name],
            ['It returns you to', <Back {...request} />],
          ]}
        />
        {before && (
          <p class="quiet">
            You connected an app of this name before, <Time at={before.since} isInSentence />.
          </p>
        )}
      </div>
      <ul class="chips">
        {client.host === undefined && (
          <li class="badge warning">
            Nobody has checked who this is: the app chose its name itself
          </li>
        )}
        {isLocal && (
          <li class="badge warning">
            The response goes to a program on this device: continue only if you have just started
            this yourself
          </li>
        )}
      </ul>
      {client.host !== undefined && <ForeignLetters domain={client.host} />}
      {!isLocal && redirectHost !== client.host && <ForeignLetters domain={redirectHost} />}
      {others.length > 0 && (
        <Namesakes hosts={others.map(({ host, redirect_host: back }) => host ?? back)} />
      )}
    </>
  )
}

/** Shows the host, or for an installed app the whole address: a scheme alone can hide where it leads. */
function Back({ redirectUri, redirectHost, isLocal }: AuthorizationRequest) {
  const shown = isInstalledApp(redirectUri) ? redirectUri : redirectHost
  const where = <code class="long">{shown}</code>
  const usual = usualPrograms[redirectHost]
  if (!isLocal) return where
  return (
    <>
      A program on this device, by {where}
      {usual !== undefined && `, usually ${usual}`}
    </>
  )
}

/** Programs that people know by the schemes that they claim. */
const usualPrograms: Readonly<Record<string, string>> = {
  'cursor:': 'Cursor',
  'vscode:': 'Visual Studio Code',
  'vscode-insiders:': 'Visual Studio Code Insiders',
  'windsurf:': 'Windsurf',
}

function Namesakes({ hosts }: { hosts: readonly string[] }) {
  return (
    <Notice kind="danger" title="Another app has this name">
      An app with the same name is already connected, and its responses go to{' '}
      <code class="long">{hosts.join(', ')}</code>. This one is not the same.
    </Notice>
  )
}
