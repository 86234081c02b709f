// The relay that carries envelopes between this page and a wallet (WalletConnect 2.0 specifications,
// "Relay Server RPC"). It stores what it could not deliver. When a phone switches to the wallet and back
// its connection breaks, and opening it again loses nothing.
import { admissionTo, newName } from './admission.ts'
import { field, parseField } from './field.ts'

/** Address of the relay, our project there, and the two callbacks. */
export type RelaySettings = {
  url: string
  projectId: string
  onMessage: (topic: string, message: string) => void
  /** Called when reconnecting failed for good; no message follows. */
  onLost: () => void
}

/** Seconds that the relay stores a message, and the kind of message. */
export type Delivery = { ttl: number; tag: number; prompt: boolean }

/** Connection to the relay. */
export type Relay = {
  subscribe(topic: string): Promise<unknown>
  publish(topic: string, message: string, delivery: Delivery): Promise<unknown>
  close(): void
}

const attemptsMax = 4
const firstPauseMilliseconds = 500

type Call = { text: string; resolve: (result: unknown) => void; reject: (error: unknown) => void }
type Line = {
  settings: RelaySettings
  name?: CryptoKeyPair
  /** Topics that a new connection must subscribe to again. */
  topics: Set<string>
  /** Calls without an answer, which a new connection repeats. */
  calls: Map<number, Call>
  socket?: WebSocket
  failures: number
  isOver: boolean
}

/** Opens a connection to the relay, which reconnects by itself. */
export function openRelay(settings: RelaySettings): Relay {
  const line: Line = {
    settings,
    topics: new Set(),
    calls: new Map(),
    failures: 0,
    isOver: false,
  }
  openLine(line)
  return {
    async subscribe(topic) {
      await call(line, 'irn_subscribe', { topic })
      line.topics.add(topic)
    },
    publish: (topic, message, delivery) =>
      call(line, 'irn_publish', { topic, message, ...delivery }),
    close() {
      line.isOver = true
      line.socket?.close()
    },
  }
}

/** Connects. A browser without the needed key types reports the same as one without a network. */
function openLine(line: Line): void {
  connectRelay(line).catch(() => lose(line))
}

function lose(line: Line): void {
  line.isOver = true
  line.settings.onLost()
}

async function connectRelay(line: Line): Promise<void> {
  const { url, projectId } = line.settings
  line.name ??= await newName()
  const address = new URL(url)
  address.searchParams.set('projectId', projectId)
  address.searchParams.set('auth', await admissionTo(url, line.name))
  if (line.isOver) return
  const socket = new WebSocket(address)
  line.socket = socket
  socket.addEventListener('open', () => {
    for (const { text } of line.calls.values()) socket.send(text)
    const topics = [...line.topics]
    if (topics.length > 0) void call(line, 'irn_batchSubscribe', { topics })
  })
  socket.addEventListener('message', ({ data }) =>
    receiveMessage(line, socket, parseField(String(data))),
  )
  socket.addEventListener('close', () => reconnect(line))
}

function reconnect(line: Line): void {
  if (line.isOver) return
  line.failures += 1
  if (line.failures >= attemptsMax) {
    lose(line)
  } else if (document.hidden) {
    // A phone that shows its wallet: this page does not run and has no network until it is visible again.
    document.addEventListener('visibilitychange', () => openLine(line), { once: true })
  } else {
    const pause = firstPauseMilliseconds * 2 ** (line.failures - 1)
    setTimeout(() => openLine(line), pause)
  }
}

function call(line: Line, method: string, params: object): Promise<unknown> {
  const id = newId()
  const text = JSON.stringify({ id, jsonrpc: '2.0', method, params })
  return new Promise((resolve, reject) => {
    line.calls.set(id, { text, resolve, reject })
    if (line.socket?.readyState === WebSocket.OPEN) line.socket.send(text)
  })
}

function receiveMessage(line: Line, socket: WebSocket, said: unknown): void {
  // Only now: a relay that does not know our project accepts the connection and closes it silently.
  line.failures = 0
  const id = field(said, 'id')
  if (field(said, 'method') === 'irn_subscription') {
    socket.send(JSON.stringify({ id, jsonrpc: '2.0', result: true }))
    const [topic, message] = ['topic', 'message'].map((name) => field(said, 'params', 'data', name))
    if (typeof topic === 'string' && typeof message === 'string') {
      line.settings.onMessage(topic, message)
    }
    return
  }
  const waiting = line.calls.get(Number(id))
  line.calls.delete(Number(id))
  const error = field(said, 'error')
  if (error === undefined) waiting?.resolve(field(said, 'result'))
  else waiting?.reject(error)
}

let lastId = 0

/** Returns a new id: milliseconds times 1,000, never twice, and within a safe integer. */
export function newId(): number {
  lastId = Math.max(lastId + 1, Date.now() * 1000)
  return lastId
}
