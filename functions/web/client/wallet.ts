// Sends a token from a wallet. Wallets in this browser announce themselves (EIP-6963). All wallets, those
// by WalletConnect included, where the page offers it, are called by EIP-1193.
import { parseAmount } from '../../../shared/money/amount.ts'
import { field } from './wallet/field.ts'

type Provider = {
  request(call: { method: string; params?: unknown[] }): Promise<unknown>
  on?(event: string, listener: () => void): unknown
}
type Announced = { info: { uuid: string; name: string }; provider: Provider }

const form = document.querySelector<HTMLFormElement>('#send')
const wallets = document.querySelector<HTMLElement>('#wallets')
const sending = document.querySelector<HTMLElement>('#sending')
const known = new Set<string>()
const outOfDate = new Error('This page is out of date. Open the link again.')
let chosen: { provider: Provider; address: string } | undefined

function say(words: string): void {
  const place = document.querySelector('#wallet-status')
  if (place) place.textContent = words
}

/** Checks an announcement, which any script of the page and any extension can make. */
function isAnnounced(value: unknown): value is Announced {
  return (
    typeof field(value, 'info', 'uuid') === 'string' &&
    typeof field(value, 'info', 'name') === 'string' &&
    isProvider(field(value, 'provider'))
  )
}

function isProvider(value: unknown): value is Provider {
  return typeof field(value, 'request') === 'function'
}

function offer({ info, provider }: Announced): void {
  if (known.has(info.uuid)) return
  known.add(info.uuid)
  offerAs(info.name, () => connectWallet(provider))
}

function offerAs(name: string, choose: () => Promise<void>): void {
  document.querySelector('#none')?.remove()
  const button = document.createElement('button')
  button.type = 'button'
  button.className = 'plain'
  button.textContent = name
  button.addEventListener('click', () => void attempt(choose))
  wallets?.append(button)
}

/** Loads the WalletConnect script only when it is chosen, to keep the page small. */
async function connectElsewhere(script: string): Promise<void> {
  const loaded: unknown = await import(script).catch(() => undefined)
  const provider = field(loaded, 'provider')
  if (!isProvider(provider)) throw outOfDate
  await connectWallet(provider)
}

/** Runs a step and shows why it failed: refusals with an EIP-1193 code in our words or the wallet's. */
async function attempt(step: () => Promise<void>): Promise<void> {
  try {
    await step()
  } catch (error) {
    const code = field(error, 'code')
    if (code === 4001) say('You declined in the wallet. Nothing was sent.')
    else if (code === 4902) say(`Add ${form?.dataset['network']} to your wallet, then try again.`)
    else if (code === undefined && error instanceof Error) say(error.message)
    else say(`The wallet answered: ${String(field(error, 'message') ?? error)}`)
  }
}

async function connectWallet(provider: Provider): Promise<void> {
  say('Waiting for the wallet.')
  const accounts = await provider.request({ method: 'eth_requestAccounts' })
  const address: unknown = Array.isArray(accounts) ? accounts[0] : undefined
  if (typeof address !== 'string' || !sending) return
  chosen = { provider, address }
  const place = document.querySelector('#connected')
  if (place) place.textContent = address
  sending.hidden = false
  say('')
  provider.on?.('disconnect', () => leave(provider))
}

function leave(provider: Provider): void {
  if (chosen?.provider !== provider || !sending) return
  chosen = undefined
  sending.hidden = true
  say('The wallet is disconnected. Choose one to go on.')
}

/** Tells the server the wallet first: only a transfer from this wallet finishes the action. */
async function sendFromWallet(form: HTMLFormElement): Promise<void> {
  if (!chosen) return
  const { provider, address } = chosen
  const { chain, token = '', to = '', decimals } = form.dataset
  const body = new URLSearchParams({ form: formValue(form, 'form'), wallet: address })
  const amount = parseAmount(formValue(form, 'amount').trim(), Number(decimals))
  if (amount === undefined || amount === 0n) {
    say('Enter an amount such as 12.50.')
    return
  }
  const named = await fetch(form.action, { method: 'POST', body })
  if (!named.ok) throw outOfDate
  await provider.request({ method: 'wallet_switchEthereumChain', params: [{ chainId: chain }] })
  // transfer(address,uint256), ERC-20.
  const data = `0xa9059cbb${word(to.slice(2))}${word(amount.toString(16))}`
  const transaction = { from: address, to: token, data, value: '0x0' }
  say('Confirm in your wallet.')
  await provider.request({ method: 'eth_sendTransaction', params: [transaction] })
  form.querySelector('button')?.setAttribute('disabled', '')
  say('Sent. It shows here once the network has it.')
}

function formValue(form: HTMLFormElement, name: string): string {
  return form.querySelector<HTMLInputElement>(`input[name=${name}]`)?.value ?? ''
}

function word(hex: string): string {
  return hex.toLowerCase().padStart(64, '0')
}

if (wallets && form) {
  wallets.hidden = false
  window.addEventListener('eip6963:announceProvider', (event) => {
    const detail = field(event, 'detail')
    if (isAnnounced(detail)) offer(detail)
  })
  window.dispatchEvent(new Event('eip6963:requestProvider'))
  const { walletconnect } = wallets.dataset
  if (walletconnect) offerAs('WalletConnect', () => connectElsewhere(walletconnect))
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    void attempt(() => sendFromWallet(form))
  })
}
