/** Sending from a wallet in the browser. The script finds the wallets; here is what it works from. */
import type { Visit } from '../visit.ts'
import { stepPath } from './action-states.tsx'
import type { Way } from './deposit.tsx'
import { Button, Field, Form } from './form.tsx'
import { Address, Facts, Notice } from './show.tsx'

export function WalletPanel({ c, way, address }: { c: Visit; way: Way; address: string }) {
  const { chain, token, amount } = way
  const order = {
    'data-chain': `0x${chain.id.toString(16)}`,
    'data-network': chain.title,
    'data-token': token.address,
    'data-decimals': String(token.decimals),
    'data-to': address,
  }
  return (
    <>
      <Facts
        facts={[
          ['Network', chain.testnet ? `${chain.title} (a test network)` : chain.title],
          ['Token', token.symbol],
          ['To', <Address value={address} />],
        ]}
      />
      <noscript>
        <Notice kind="warning" title="Scripts are needed here">
          A wallet in the browser is reached by script.
        </Notice>
      </noscript>
      <div id="wallets" hidden>
        <h2>Choose a wallet</h2>
        <p id="none">
          No wallet was found in this browser. Open the link in one that has a wallet.
        </p>
      </div>
      <div id="sending" hidden>
        <Form c={c} action={stepPath(c, 'connect')} id="send" {...order}>
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
      </div>
      <p id="wallet-status" role="status" />
    </>
  )
}
