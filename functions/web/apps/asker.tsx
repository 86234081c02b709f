/** The app that asks for access: what was checked is shown apart from what it says of itself. */
import type { AuthorizationRequest } from '../../../shared/oauth/authorization-request.ts'
import { isInstalledApp } from '../../../shared/oauth/redirect-uri.ts'
import { levelOf } from '../keys/levels.ts'
import { ForeignLetters } from '../ui/merchant.tsx'
import { Facts, Notice, Time } from '../ui/show.tsx'
import { connectedBefore, type Namesake } from './apps-data.ts'

type RequestingAppProps = {
  request: AuthorizationRequest
  /** Connected apps that have the same name and are not known to be this one. */
  namesakes: readonly Namesake[]
}

/** Shows the app, what it asks for, and the warnings about it. */
export function RequestingApp({ request, namesakes }: RequestingAppProps) {
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
            ['You go back to', <Back {...request} />],
          ]}
        />
        {before && (
          <p class="quiet">
            You connected an app of this name before, on <Time at={before.since} />.
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
            The answer goes to a program on this device: go on only if you have just started this
            yourself
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
    <Notice kind="danger" title="You know another app of this name">
      An app that calls itself the same is connected already, and its answers go to{' '}
      <code class="long">{hosts.join(', ')}</code>. This one is not the same.
    </Notice>
  )
}
