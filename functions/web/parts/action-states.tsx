/** A hosted action before and after it is done: what is asked, what came of it, why a link is over. */
import type { Child } from 'hono/jsx'
import { findChain } from '../../../shared/chains/registry.ts'
import type { HostedAction } from '../../../shared/hosted/action.ts'
import { resultOf } from '../../../shared/hosted/action.ts'
import { Page, show } from '../layout.tsx'
import type { Seen } from '../link.ts'
import type { Visit } from '../visit.ts'
import { Button, Form, LinkButton } from './form.tsx'
import { Address, Facts, Money, Notice, Time } from './show.tsx'

/** A page of a link that this browser may see. */
export type Shown = Seen & { action: HostedAction }

const titles: Record<HostedAction['type'], string> = {
  login: 'Sign in',
  deposit: 'Send money',
  walletconnect: 'Send money from your wallet',
  human_verification: 'Confirm that you are there',
}

export function titleOf({ type }: HostedAction): string {
  return titles[type]
}

/** Before anybody has opened the link: what for, and the two ways on. */
export function offered(c: Visit, { action, alias }: Shown) {
  return show(
    c,
    <Page c={c} title={titleOf(action)} lead={purposeOf(action, alias)}>
      <p>
        The link works until <Time at={action.expires_at} />, in the browser that continues first.
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

export function Decline({ c }: { c: Visit }) {
  return (
    <Form c={c} action={stepPath(c, 'decline')}>
      <Button kind="plain">Decline</Button>
    </Form>
  )
}

/** Path of a step below the pages. */
export function stepPath(c: Visit, step: string): string {
  return `/action/${c.req.param('token')}/${step}`
}

function purposeOf({ type, asked }: HostedAction, alias: string): Child {
  const what = asked.amount ? `${asked.amount} ${asked.token ?? 'USDC'}` : (asked.token ?? 'money')
  switch (type) {
    case 'login':
      return `The agent of ${alias} asks you to sign in to the account.`
    case 'deposit':
      return `The agent of ${alias} asks you to send ${what} to the account.`
    case 'walletconnect':
      return `The agent of ${alias} asks you to send ${what} to the account, from a wallet in this browser.`
    case 'human_verification':
      return `The agent of ${alias} asks a person to confirm that they are there.`
  }
}

export function usedElsewhere(c: Visit, _seen: Seen) {
  return show(
    c,
    <Page c={c} title="This link is used">
      <p>It was opened in another browser and works only there. Ask your agent for a new one.</p>
    </Page>,
    410,
  )
}

export function ended(c: Visit, { action }: Shown) {
  const isDeclined = action.status === 'declined'
  return show(
    c,
    <Page c={c} title={isDeclined ? 'You declined' : 'This link has expired'}>
      <p>
        {isDeclined
          ? 'Your agent is told. Nothing else happened.'
          : 'Nothing more can be done with it. Ask your agent for a new one.'}
      </p>
      <WayBack action={action} />
    </Page>,
    isDeclined ? 200 : 410,
  )
}

export function finished(c: Visit, { action }: Shown) {
  return show(
    c,
    <Page c={c} title={action.deposit ? 'The money has arrived' : 'Done'}>
      <Outcome action={action} />
      <WayBack action={action} />
    </Page>,
  )
}

function Outcome({ action }: { action: HostedAction }) {
  const result = resultOf(action)
  if (!result) return null
  if ('verified_at' in result) {
    return (
      <p>
        Your agent is told that somebody was there. That is good until{' '}
        <Time at={result.valid_until} />.
      </p>
    )
  }
  if ('signed_in_at' in result) {
    return (
      <p>
        You are signed in. <a href="/web">To the overview</a>
      </p>
    )
  }
  const network = findChain(result.chain)
  return (
    <>
      <Facts
        facts={[
          ['Received', <Money amount={result.amount} unit={result.token} />],
          ['Network', network?.title ?? result.chain],
          ['From', <Address value={result.from} />],
          ['Transaction', <code class="long">{result.tx_hash}</code>],
        ]}
      />
      {action.wallet && (
        <Notice>
          <p>
            This wallet is not a known recipient by that. If payments to it need no confirmation
            from now on, the owner has to say so.
          </p>
          <LinkButton to={`/keep-wallet/${action.id}`}>Make it a known recipient</LinkButton>
        </Notice>
      )}
    </>
  )
}

/** Never followed by itself: who leaves the page sees where to. */
function WayBack({ action: { asked } }: { action: HostedAction }) {
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
