/** The outcome of a hosted action, and the link back to the site that the person came from. */
import { findChain } from '../../../shared/chains/registry.ts'
import {
  type ActionResult,
  actionResultOf,
  type HostedAction,
} from '../../../shared/hosted/action.ts'
import { LinkButton } from '../ui/form.tsx'
import { Address, Facts, Money, Notice, Site, Time, Transaction } from '../ui/show.tsx'
import { webAppPath } from '../visit.ts'

/** Shows the result of a finished action. */
export function Outcome({ action }: { action: HostedAction }) {
  const result = actionResultOf(action)
  if (!result) return null
  if ('verified_at' in result) {
    return (
      <p>
        Your agent is told that a person confirmed. That is valid until{' '}
        <Time at={result.valid_until} isInSentence />.
      </p>
    )
  }
  if ('signed_in_at' in result) {
    return (
      <p>
        You are signed in. <a href={webAppPath}>Go to the overview</a>
      </p>
    )
  }
  if ('credential_id' in result) {
    return (
      <p>
        The login for <Site origin={result.site} /> is in the vault. Your agent is told that it is
        there, but not what it contains.
      </p>
    )
  }
  return <Arrived arrived={result} isByWallet={action.wallet !== null} actionId={action.id} />
}

type Arrival = Extract<ActionResult, { tx_hash: string }>

function Arrived({
  arrived,
  isByWallet,
  actionId,
}: {
  arrived: Arrival
  isByWallet: boolean
  actionId: string
}) {
  const network = findChain(arrived.chain)
  return (
    <>
      <Facts
        facts={[
          ['Received', <Money amount={arrived.amount} unit={arrived.token} />],
          ['Network', network?.title ?? arrived.chain],
          ['From', <Address value={arrived.from} />],
          ['Transaction', <Transaction chain={network} hash={arrived.tx_hash} />],
        ]}
      />
      {isByWallet && (
        <Notice>
          <p>
            This wallet is not a trusted recipient: agents have to ask before they pay it. The owner
            can add it as trusted.
          </p>
          <p>
            <LinkButton to={`/keep-wallet/${actionId}`}>Trust this recipient</LinkButton>
          </p>
        </Notice>
      )}
    </>
  )
}

/** Links back to the return URL with its host shown; the page never redirects by itself. */
export function WayBack({ action: { asked } }: { action: HostedAction }) {
  if (asked.return_url === undefined) return null
  const { host } = new URL(asked.return_url)
  return (
    <p>
      <a class="button plain" href={asked.return_url} rel="noreferrer">
        Back to {host}
      </a>
    </p>
  )
}
