/** Sending from a wallet in the browser: the parts that functions/web/client/wallet.ts works with. */
import { assetPath } from '../asset.ts'
import { Button, Field, Form } from '../ui/form.tsx'
import { Address, Facts, Notice, Section } from '../ui/show.tsx'
import type { PageContext, WalletRelay } from '../visit.ts'
import { type DepositRoute, networkTitle } from './deposit-address.tsx'

type WalletProps = {
  c: PageContext
  way: DepositRoute
  address: string
  /** Path below the app to which the address of the connected wallet is sent. */
  connectPath: string
  /** Relay to wallets outside this browser, if there is one. */
  relay?: WalletRelay | undefined
}

/** Renders the choice of a wallet and the form that sends. */
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
        <Notice kind="warning" title="JavaScript is needed here">
          Without it, this page cannot reach the wallet in your browser.
        </Notice>
      </noscript>
      <section id="wallets" hidden data-walletconnect={relay && assetPath('walletconnect')}>
        <h2>Choose a wallet</h2>
        <p id="none">No wallet was found in this browser. Use a browser that has one.</p>
      </section>
      {relay && <Pairing relay={relay} chain={way.chain.caip2} />}
      <SendForm {...props} />
      <p id="wallet-status" role="status" />
    </>
  )
}

/** Renders the pairing by WalletConnect, which is visible while a wallet is paired or connected. */
function Pairing({ relay, chain }: { relay: WalletRelay; chain: string }) {
  const { url, projectId } = relay
  return (
    <section id="pairing" hidden data-relay={url} data-project={projectId} data-chain={chain}>
      <section id="pairing-code">
        <h2>Connect with WalletConnect</h2>
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

/** Renders the form that is visible once a wallet is connected. */
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
