// An EIP-1193 provider for a wallet on another device, or in another app of this one. It implements
// WalletConnect's published protocol and connects only to the relay that the page names.
import { drawCode } from '../qr-code.ts'
import { field } from './wallet/field.ts'
import { openSession, type Session } from './wallet/session.ts'

const place = document.querySelector<HTMLElement>('#pairing')
const code = document.querySelector<HTMLElement>('#pairing-code')
const stop = document.querySelector<HTMLElement>('#pairing-end')
const listeners = new Set<() => void>()
let current: { end(): void } | undefined
let session: Session | undefined

/** Provider that wallet.ts loads when WalletConnect is chosen. */
export const provider = {
  async request({ method, params }: { method: string; params?: unknown[] }): Promise<unknown> {
    if (method === 'eth_requestAccounts') return pair()
    // A session is for the one network of the page, and each request names that network.
    if (method === 'wallet_switchEthereumChain') return null
    if (!session) throw new Error('The wallet is disconnected. Choose one to go on.')
    return session.request(method, params).catch(throwRefusal)
  },
  on(event: string, listener: () => void): void {
    if (event === 'disconnect') listeners.add(listener)
  },
}

async function pair(): Promise<readonly string[]> {
  const before = current
  current = undefined
  session = undefined
  before?.end()
  const { project = '', relay = '', chain = '' } = place?.dataset ?? {}
  const opening = openSession({
    url: relay,
    projectId: project,
    chain,
    onCode: show,
    onEnd() {
      if (current !== opening) return
      current = undefined
      session = undefined
      if (place) place.hidden = true
      for (const listener of listeners) listener()
    },
  })
  current = opening
  const opened = await opening.done.catch((error: unknown) => {
    opening.end()
    return throwRefusal(error)
  })
  if (opened.accounts.length === 0) {
    opening.end()
    throw Object.assign(new Error('no account on this network'), { code: 4902 })
  }
  session = opened
  if (code) code.hidden = true
  if (stop) stop.textContent = 'Disconnect'
  return opened.accounts
}

/** Translates WalletConnect's refusals (Sign API, "Error Codes") to those of EIP-1193. */
function throwRefusal(error: unknown): never {
  const said = Number(field(error, 'code'))
  if (said === 5000) throw Object.assign(new Error('declined'), { code: 4001 })
  if (said === 5100 || said === 3005) throw Object.assign(new Error('network'), { code: 4902 })
  throw error
}

/** Shows the pairing as a QR code for another device, as a link for this one, and as text to copy. */
function show(address: string): void {
  const { size, path } = drawCode(address)
  const drawing = document.querySelector('#pairing-drawing')
  drawing?.setAttribute('viewBox', `0 0 ${size} ${size}`)
  drawing?.querySelector('path')?.setAttribute('d', path)
  document.querySelector('#pairing-link')?.setAttribute('href', address)
  const text = document.querySelector<HTMLElement>('#pairing-text')
  if (text) {
    text.textContent = address
    text.dataset['copy'] = address
  }
  if (stop) stop.textContent = 'Cancel'
  if (code) code.hidden = false
  if (place) place.hidden = false
}

stop?.addEventListener('click', () => current?.end())
window.addEventListener('pagehide', () => current?.end())
