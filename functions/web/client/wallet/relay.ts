// The relay that carries envelopes between this page and a wallet (WalletConnect 2.0 specifications,
// "Relay Server RPC"). It keeps what it could not deliver, so a line that breaks, as it does when a phone
// goes to the wallet and comes back, is opened again and loses nothing.
import { admissionTo, newName } from './admission.ts'
import { field, parse } from './field.ts'

export type RelaySettings = {
  url: string
  projectId: string
  onMessage: (topic: string, message: string) => void
  /** It was tried again and again; nothing more comes. */
  onLost: () => void
}

/** How long the relay keeps a message, and of what kind it is. */
export type Delivery = { ttl: number; tag: number; prompt: boolean }

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
  /** What has to be subscribed to again on a new line. */
  topics: Set<string>
  /** Calls without an answer, which are said again on a new line. */
  calls: Map<number, Call>
  socket?: WebSocket
  failures: number
  isOver: boolean
}

export function openRelay(settings: RelaySettings): Relay {
  const line: Line = {
    settings,
    topics: new Set(),
    calls: new Map(),
    failures: 0,
    isOver: false,
  }
  begin(line)
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

/** A browser without the keys that this needs is told the same as one without a network. */
function begin(line: Line): void {
  connect(line).catch(() => lose(line))
}

function lose(line: Line): void {
  line.isOver = true
  line.settings.onLost()
}

async function connect(line: Line): Promise<void> {
  const { url, projectId } = line.settings
  line.name ??= await newName()
  const address = new URL(url)
  address.searchParams.set('projectId', projectId)
  address.searchParams.set('auth', await admissionTo(url, line.name))
  if (line.isOver) return
  const socket = new WebSocket(address)
  line.socket = socket
  socket.addEventListener('open', () => {
    line.failures = 0
    for (const { text } of line.calls.values()) socket.send(text)
    const topics = [...line.topics]
    if (topics.length > 0) void call(line, 'irn_batchSubscribe', { topics })
  })
  socket.addEventListener('message', ({ data }) => receive(line, socket, parse(String(data))))
  socket.addEventListener('close', () => again(line))
}

function again(line: Line): void {
  if (line.isOver) return
  line.failures += 1
  if (line.failures >= attemptsMax) {
    lose(line)
  } else if (document.hidden) {
    // A phone in its wallet: the page is not run, and has no network, before it is seen again.
    document.addEventListener('visibilitychange', () => begin(line), { once: true })
  } else {
    const pause = firstPauseMilliseconds * 2 ** (line.failures - 1)
    setTimeout(() => begin(line), pause)
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

function receive(line: Line, socket: WebSocket, said: unknown): void {
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

/** Milliseconds with three more digits: never twice, and a number that JavaScript can hold. */
export function newId(): number {
  lastId = Math.max(lastId + 1, Date.now() * 1000)
  return lastId
}
