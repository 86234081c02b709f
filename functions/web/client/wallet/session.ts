// A session with a wallet by WalletConnect's Sign API. The page shows a code; the wallet that reads it
// agrees on a key and names its accounts. It is then asked for transactions until either side ends it.
import { field, values } from './field.ts'
import { hexOf, openAgreement, randomKeyBytes, topicOfKey } from './keys.ts'
import { openPeer, type Peer, type PeerSettings } from './peer.ts'

/** Settings of a session: the relay, the chain, and the two callbacks. */
export type SessionSettings = Pick<PeerSettings, 'url' | 'projectId'> & {
  /** CAIP-2 id of the only chain that the wallet is asked about. */
  chain: string
  /** Called with the pairing URI as soon as a wallet can read it. */
  onCode: (address: string) => void
  /** Called when either side ended the session or the relay is unreachable for good. */
  onEnd: () => void
}

/** Session that a wallet has accepted, with its addresses on the chain. */
export type Session = {
  accounts: readonly string[]
  request(method: string, params: unknown): Promise<unknown>
  end(): void
}

/** Events that wallets expect in a proposal; nothing here depends on them. */
const events = ['chainChanged', 'accountsChanged']
const pairingSeconds = 300
/** Seconds that a request waits: as long as the link of a hosted action, whose page sends it. */
const requestSeconds = 900

const unreachable =
  'WalletConnect cannot be reached. Check your connection, try a newer browser, or use a wallet in this one.'
const unanswered = 'No wallet answered within five minutes. Choose WalletConnect for a new code.'
const unconfirmed = 'The wallet did not answer. Look into it before you send again.'

/** Opens a session. `done` resolves when a wallet accepts; it rejects with advice for a person. */
export function openSession(settings: SessionSettings): { done: Promise<Session>; end(): void } {
  const opening = Promise.withResolvers<Session>()
  const settled = Promise.withResolvers<unknown>()
  let topic: string | undefined
  const end = () => {
    if (topic !== undefined) peer.tell(topic, goodbye)
    leave('Disconnected.')
  }
  const leave = (why: string) => {
    peer.end(why)
    opening.reject(new Error(why))
    settings.onEnd()
  }
  const peer = openPeer({
    url: settings.url,
    projectId: settings.projectId,
    onLost: () => leave(unreachable),
    onRequest(from, method, params) {
      if (from !== topic) return
      if (method === 'wc_sessionSettle') settled.resolve(params)
      if (method === 'wc_sessionDelete') leave('The wallet ended the connection.')
    },
  })
  const run = async () => {
    const key = await propose(peer, settings)
    topic = await topicOfKey(key)
    await peer.join(key)
    const accounts = accountsOn(settings.chain, await settled.promise)
    return { accounts, request: asking(peer, topic, settings.chain), end }
  }
  run().then(opening.resolve, opening.reject)
  return { done: opening.promise, end }
}

/** Shows a pairing code and returns the key that was agreed on with the wallet. */
async function propose(peer: Peer, { chain, onCode }: SessionSettings) {
  const pairingKey = randomKeyBytes(32)
  const { publicKey, agree } = await openAgreement().catch(() => {
    throw new Error(unreachable)
  })
  const pairing = await peer.join(pairingKey)
  const expiryTimestamp = Math.floor(Date.now() / 1000) + pairingSeconds
  const answer = peer.ask(pairing, {
    method: 'wc_sessionPropose',
    params: {
      requiredNamespaces: {},
      optionalNamespaces: {
        eip155: { chains: [chain], methods: ['eth_sendTransaction'], events },
      },
      relays: [{ protocol: 'irn' }],
      pairingTopic: pairing,
      proposer: { publicKey, metadata: ourselves() },
      expiryTimestamp,
    },
    delivery: { ttl: pairingSeconds, tag: 1100, prompt: true },
    late: unanswered,
  })
  const facts = `expiryTimestamp=${expiryTimestamp}&relay-protocol=irn&symKey=${hexOf(pairingKey)}`
  onCode(`wc:${pairing}@2?${facts}`)
  const theirs = field(await answer, 'responderPublicKey')
  if (typeof theirs !== 'string' || !/^[0-9a-f]{64}$/.test(theirs)) {
    throw new Error('The wallet gave no key. Try another one.')
  }
  return agree(theirs)
}

function asking(peer: Peer, topic: string, chainId: string): Session['request'] {
  return (method, params) => {
    const expiryTimestamp = Math.floor(Date.now() / 1000) + requestSeconds
    return peer.ask(topic, {
      method: 'wc_sessionRequest',
      params: { request: { method, params, expiryTimestamp }, chainId },
      delivery: { ttl: requestSeconds, tag: 1108, prompt: true },
      late: unconfirmed,
    })
  }
}

/** Returns the addresses on the requested chain, from `eip155:<chain>:<address>` (CAIP-10). */
function accountsOn(chain: string, settlement: unknown): string[] {
  const namespaces = values(field(settlement, 'namespaces'))
  const accounts = namespaces.flatMap((namespace) => values(field(namespace, 'accounts')))
  return accounts.flatMap((account) => {
    const address = String(account).slice(chain.length + 1)
    const isHere = account === `${chain}:${address}` && /^0x[0-9a-f]{40}$/i.test(address)
    return isHere ? [address] : []
  })
}

function ourselves() {
  return {
    name: 'Agent Operating Account',
    description: 'Sends money to an account.',
    url: location.origin,
    icons: [],
  }
}

const goodbye = {
  method: 'wc_sessionDelete',
  params: { code: 6000, message: 'User disconnected.' },
  delivery: { ttl: 86_400, tag: 1112, prompt: false },
}
