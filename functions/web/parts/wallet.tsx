/** Sending from a wallet in the browser. The script finds the wallets; here is what it works from. */
import { addressOf } from '../asset.ts'
import type { Visit, WalletRelay } from '../visit.ts'
import type { Way } from './deposit.tsx'
import { networkTitle } from './deposit.tsx'
import { Button, Field, Form } from './form.tsx'
import { Address, Facts, Notice, Section } from './show.tsx'

type WalletProps = {
  c: Visit
  way: Way
  address: string
  /** Where the connected wallet is named, below the app. */
  connectPath: string
  /** Where wallets outside of this browser are reached, if anywhere. */
  relay?: WalletRelay | undefined
}

export function WalletPanel(props: WalletProps) {
  const { way, address, relay } = props
  return (
    <>
      <Section title={`${way.token.symbol} on ${way.chain.title}`}>
        <Facts
          facts={[
            ['Network', networkTitle(way.chain)],
            ['Token', way.token.symbol],
            ['To', <Address value={address} />],
          ]}
        />
      </Section>
      <noscript>
        <Notice kind="warning" title="Scripts are needed here">
          A wallet in the browser is reached by script.
        </Notice>
      </noscript>
      <section id="wallets" hidden data-walletconnect={relay && addressOf('walletconnect')}>
        <h2>Choose a wallet</h2>
        <p id="none">No wallet was found in this browser. Use one that has a wallet.</p>
      </section>
      {relay && <Pairing relay={relay} chain={way.chain.caip2} />}
      <SendForm {...props} />
      <p id="wallet-status" role="status" />
    </>
  )
}

/** Shown while a wallet is paired by WalletConnect, and then for ending that. */
function Pairing({ relay, chain }: { relay: WalletRelay; chain: string }) {
  const { url, projectId } = relay
  return (
    <section id="pairing" hidden data-relay={url} data-project={projectId} data-chain={chain}>
      <section id="pairing-code">
        <h2>Connect by WalletConnect</h2>
        <p>Scan this with your wallet, or open a wallet on this device.</p>
        <svg id="pairing-drawing" class="qr" role="img" aria-label="Code that connects a wallet">
          <rect width="100%" height="100%" fill="#fff" />
          <path fill="#000" shape-rendering="crispEdges" />
        </svg>
        <a id="pairing-link" class="button plain">
          Open a wallet here
        </a>
        <details>
          <summary>Show the code as text</summary>
          <code id="pairing-text" class="long" data-copy="" />
        </details>
      </section>
      <Button kind="plain" type="button" id="pairing-end">
        Cancel
      </Button>
    </section>
  )
}

/** Shown once a wallet is connected. */
function SendForm({ c, way, address, connectPath }: WalletProps) {
  const { chain, token, amount } = way
  const order = {
    'data-chain': `0x${chain.id.toString(16)}`,
    'data-network': chain.title,
    'data-token': token.address,
    'data-decimals': String(token.decimals),
    'data-to': address,
  }
  return (
    <section id="sending" hidden>
      <h2>Send</h2>
      <Form c={c} action={connectPath} id="send" {...order}>
        <input type="hidden" name="wallet" value="" />
        <p>
          From <code id="connected" class="long" />
        </p>
        <Field
          name="amount"
          label="Amount"
          inputmode="decimal"
          required
          autocomplete="off"
          unit={token.symbol}
          {...(amount === undefined ? {} : { value: amount })}
        />
        <Button>Send from this wallet</Button>
      </Form>
    </section>
  )
}
