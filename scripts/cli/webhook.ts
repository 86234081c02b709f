/** Posts events to a program, signed as Standard Webhooks 1.0.0 says (github.com/standard-webhooks). */
import { createHmac, randomBytes } from 'node:crypto'
import { readBaseUrl } from '../client/call.ts'
import { type Call, UsageError } from './command.ts'
import type { AccountEvent } from './events.ts'

const repetitionsMax = 3
const timeoutMilliseconds = 15_000

/** Returns a function that posts an event, and says on standard error if it was not taken. */
export function openWebhook(call: Call, address: string): (event: AccountEvent) => Promise<void> {
  const url = readReceiver(address)
  const given = call.env['AOA_WEBHOOK_SECRET']
  const secret = given ?? `whsec_${randomBytes(32).toString('base64')}`
  const key = readSigningKey(secret)
  if (given === undefined) call.screen.say(`The secret of the webhooks is ${secret}`)
  return async (event) => {
    for (let repetitions = 0; ; repetitions += 1) {
      const failure = await postSigned(call, url, key, event)
      if (failure === undefined) return
      const isLast = repetitions === repetitionsMax
      const next = isLast ? 'It is not posted again.' : 'It is posted again.'
      call.screen.say(`The event ${event.id} was not taken: ${failure}. ${next}`)
      if (isLast) return
      await call.pause(1000 * 2 ** repetitions)
    }
  }
}

function readReceiver(address: string): string {
  try {
    readBaseUrl(address)
    const { href, username, password } = new URL(address)
    if (username === '' && password === '') return href
  } catch {}
  throw new UsageError('--forward takes an address with https://, or http:// on this machine')
}

/** Returns the key of a secret: `whsec_` and the base64 of 24 to 64 bytes. */
function readSigningKey(secret: string): Buffer {
  const [, text = ''] = /^whsec_(.+)$/.exec(secret) ?? []
  const key = Buffer.from(text, 'base64')
  if (key.length >= 24 && key.length <= 64 && key.toString('base64') === text) return key
  throw new UsageError('AOA_WEBHOOK_SECRET has to be whsec_ and the base64 of 24 to 64 bytes')
}

/** Posts once. Returns why the event was not taken; undefined if it was. */
async function postSigned(
  { fetch, now, signal }: Call,
  url: string,
  key: Buffer,
  { id, type, timestamp, data }: AccountEvent,
): Promise<string | undefined> {
  const body = JSON.stringify({ type, timestamp, data })
  const seconds = Math.floor(now() / 1000)
  const signature = createHmac('sha256', key).update(`${id}.${seconds}.${body}`).digest('base64')
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'aoa',
    'webhook-id': id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': `v1,${signature}`,
  }
  const ending = AbortSignal.any([signal, AbortSignal.timeout(timeoutMilliseconds)])
  const post = { method: 'POST', headers, body, redirect: 'manual', signal: ending } as const
  try {
    const answer = await fetch(url, post)
    await answer.body?.cancel()
    return answer.ok ? undefined : `${url} answered ${answer.status}`
  } catch (error) {
    signal.throwIfAborted()
    return error instanceof Error ? error.message : String(error)
  }
}
