// The wallet at the other end of the relay: requests of both sides, under the keys that both have. The
// relay delivers at least once, so a repeated message is ignored.
import { openEnvelope, seal } from './envelope.ts'
import { field } from './field.ts'
import { type Bytes, topicOfKey } from './keys.ts'
import { type Delivery, newId, openRelay, type Relay, type RelaySettings } from './relay.ts'

/** Settings of a peer; `onRequest` receives each request of the wallet. */
export type PeerSettings = Pick<RelaySettings, 'url' | 'projectId' | 'onLost'> & {
  onRequest: (topic: string, method: string, params: unknown) => void
}

/** Connection to the wallet through the relay. */
export type Peer = {
  /** Starts to listen under a key and returns its topic. */
  join(key: Bytes): Promise<string>
  /** Resolves with the peer's answer; rejects with the peer's refusal, or with `late` after the timeout. */
  ask(topic: string, question: Question): Promise<unknown>
  /** Sends a message that needs no answer. */
  tell(topic: string, message: Question): void
  /** Closes the relay and rejects all open questions with the reason. */
  end(why: string): void
}

/** Request to the peer and how the relay delivers it. */
export type Question = {
  method: string
  params: object
  delivery: Delivery
  /** Message of the error if no answer came within the time to live. */
  late?: string
}

type Waiting = { resolve: (result: unknown) => void; reject: (error: unknown) => void }
type Talk = {
  relay: Relay
  keys: Map<string, Bytes>
  heard: Set<string>
  questions: Map<number, Waiting>
  onRequest: PeerSettings['onRequest']
}

/** Delivery of our answer by the wallet's method (Sign API, "RPC Methods"). */
const answers: Readonly<Record<string, Delivery>> = {
  wc_sessionSettle: { ttl: 300, tag: 1103, prompt: false },
  wc_sessionUpdate: { ttl: 86_400, tag: 1105, prompt: false },
  wc_sessionExtend: { ttl: 86_400, tag: 1107, prompt: false },
  wc_sessionEvent: { ttl: 300, tag: 1111, prompt: false },
  wc_sessionDelete: { ttl: 86_400, tag: 1113, prompt: false },
  wc_sessionPing: { ttl: 30, tag: 1115, prompt: false },
}

/** Opens the relay and returns the peer behind it. */
export function openPeer({ onRequest, ...settings }: PeerSettings): Peer {
  const onMessage = (topic: string, message: string) => hear(talk, topic, message)
  const talk: Talk = {
    relay: openRelay({ ...settings, onMessage }),
    keys: new Map(),
    heard: new Set(),
    questions: new Map(),
    onRequest,
  }
  return {
    async join(key) {
      const topic = await topicOfKey(key)
      talk.keys.set(topic, key)
      await talk.relay.subscribe(topic)
      return topic
    },
    ask: (topic, question) => askPeer(talk, topic, question),
    tell: (topic, { method, params, delivery }) =>
      sendMessage(talk, topic, { id: newId(), method, params }, delivery),
    end(why) {
      talk.relay.close()
      for (const { reject } of talk.questions.values()) reject(new Error(why))
    },
  }
}

function askPeer(talk: Talk, topic: string, question: Question): Promise<unknown> {
  const { method, params, delivery, late = '' } = question
  const id = newId()
  return new Promise((resolve, reject) => {
    talk.questions.set(id, { resolve, reject })
    setTimeout(() => reject(new Error(late)), delivery.ttl * 1000)
    sendMessage(talk, topic, { id, method, params }, delivery, reject)
  })
}

function sendMessage(
  talk: Talk,
  topic: string,
  message: object,
  delivery: Delivery,
  onRefused: (error: unknown) => void = () => {},
): void {
  const key = talk.keys.get(topic)
  if (!key) return
  const sealed = seal(key, { jsonrpc: '2.0', ...message })
  talk.relay.publish(topic, sealed, delivery).catch(onRefused)
}

function hear(talk: Talk, topic: string, message: string): void {
  const key = talk.keys.get(topic)
  if (!key || talk.heard.has(message)) return
  talk.heard.add(message)
  const said = openEnvelope(key, message)
  const [id, method] = [field(said, 'id'), field(said, 'method')]
  if (typeof method === 'string') {
    const delivery = answers[method]
    if (delivery) sendMessage(talk, topic, { id, result: true }, delivery)
    talk.onRequest(topic, method, field(said, 'params'))
    return
  }
  const question = talk.questions.get(Number(id))
  talk.questions.delete(Number(id))
  const error = field(said, 'error')
  if (error === undefined) question?.resolve(field(said, 'result'))
  else question?.reject(error)
}
