/** The app that asks for access: what was checked is shown apart from what it says of itself. */
import type { AuthorizationRequest } from '../../../shared/oauth/authorization-request.ts'
import { isInstalledApp } from '../../../shared/oauth/redirect-uri.ts'
import { levelOf } from '../keys/levels.ts'
import { ForeignLetters } from '../ui/merchant.tsx'
import { Facts, Notice, Section, Time } from '../ui/show.tsx'
import type { Namesake } from './apps-data.ts'
import { connectedBefore } from './apps-data.ts'

type RequestingAppProps = {
  request: AuthorizationRequest
  /** Connected apps that have the same name and are not known to be this one. */
  namesakes: readonly Namesake[]
}

/** Shows the app with the warnings about it. */
export function RequestingApp({ request, namesakes }: RequestingAppProps) {
  const { client, redirectUri, redirectHost, isLocal } = request
  const before = connectedBefore(request, namesakes)
  return (
    <>
      {client.host === undefined ? (
        <Notice kind="warning" title="Nobody has checked who this is">
          Any app can give itself any name. What counts is where you go back to.
        </Notice>
      ) : (
        <ForeignLetters domain={client.host} />
      )}
      {!isLocal && redirectHost !== client.host && <ForeignLetters domain={redirectHost} />}
      {isLocal && <LocalNotice {...(isInstalledApp(redirectUri) && { scheme: redirectHost })} />}
      {!before && namesakes.length > 0 && <Namesakes hosts={namesakes.map(({ host }) => host)} />}
      <Section title="Who asks">
        {client.host !== undefined && (
          <p class="figure">
            <code class="long">{client.host}</code>
          </p>
        )}
        <Facts
          facts={[
            ['It calls itself', client.name],
            ['It asks for', levelOf(request.scopes).label],
            ['You go back to', <Back {...request} />],
          ]}
        />
        {before && (
          <p class="quiet">
            You connected an app of this name before, on <Time at={before.since} />.
          </p>
        )}
      </Section>
    </>
  )
}

/** Shows the host, or for an installed app the whole address: a scheme alone can hide where it leads. */
function Back({ redirectUri, redirectHost, isLocal }: AuthorizationRequest) {
  const shown = isInstalledApp(redirectUri) ? redirectUri : redirectHost
  const where = <code class="long">{shown}</code>
  return isLocal ? <>A program on this device, by {where}</> : where
}

/** Programs that people know by the schemes that they claim. */
const usualPrograms: Readonly<Record<string, string>> = {
  'cursor:': 'Cursor',
  'vscode:': 'Visual Studio Code',
  'vscode-insiders:': 'Visual Studio Code Insiders',
  'windsurf:': 'Windsurf',
}

function LocalNotice({ scheme }: { scheme?: string }) {
  const usual = scheme === undefined ? undefined : usualPrograms[scheme]
  return (
    <Notice kind="warning" title="The answer goes to a program on this device">
      {scheme !== undefined && (
        <>
          It goes to the program that claims <code class="long">{scheme}</code> here
          {usual !== undefined && `, which is usually ${usual}`}.{' '}
        </>
      )}
      Any program here can ask under any name. Go on only if you have just started this yourself.
    </Notice>
  )
}

function Namesakes({ hosts }: { hosts: readonly string[] }) {
  return (
    <Notice kind="danger" title="You know another app of this name">
      An app that calls itself the same is connected already, and its answers go to{' '}
      <code class="long">{hosts.join(', ')}</code>. This one is not the same.
    </Notice>
  )
}
