/**
 * A push service with its browsers. It takes a push as strictly as RFC 8030 and RFC 8292 allow, and the browser
 * decrypts it with another implementation of RFC 8291 than ours.
 */
import { createECDH, createPublicKey, verify } from 'node:crypto'
import ece from 'http_ece'
import { expect } from 'vitest'
import * as z from 'zod'
import { type Received, serverThat } from './http.ts'
import { randomBytes } from './seed.ts'
import type { TestWorld } from './world.ts'

const claims = z.strictObject({ aud: z.string(), exp: z.int(), sub: z.string() })
const shown = z.strictObject({ title: z.string(), body: z.string(), url: z.url(), tag: z.uuid() })

/** Starts a push service; `answers` are its status codes in turn, the last for all that follow. */
export async function openPushService({ world }: TestWorld, answers: number[] = [201]) {
  const left = [...answers]
  const server = await serverThat((response) => {
    response.statusCode = (left.length > 1 ? left.shift() : left[0]) ?? 201
    response.end()
  })
  /** Subscribes another browser. Returns what it tells its page, and a way to read its pushes. */
  function subscribe() {
    const pair = createECDH('prime256v1')
    const p256dh = pair.generateKeys('base64url')
    const auth = Buffer.from(randomBytes(16)).toString('base64url')
    const path = `push/${Buffer.from(randomBytes(8)).toString('hex')}`
    const pushes = () =>
      server.received
        .filter(({ url }) => url === `/${path}`)
        .map((push) => {
          requireVapid(push)
          const receiver = { version: 'aes128gcm', privateKey: pair, authSecret: auth } as const
          return shown.parse(JSON.parse(ece.decrypt(push.body, receiver).toString()))
        })
    return { keys: { endpoint: server.url + path, p256dh, auth }, pushes }
  }

  function requireVapid({ method, headers, body }: Received) {
    expect([method, headers['content-encoding']]).toEqual(['POST', 'aes128gcm'])
    expect(body.length).toBeLessThanOrEqual(4096)
    expect(headers['ttl']).toMatch(/^\d{1,7}$/)
    expect(headers['topic']).toMatch(/^[A-Za-z0-9_-]{1,32}$/)
    expect(['very-low', 'low', 'normal', 'high']).toContain(headers['urgency'])
    const form = /^vapid t=([\w-]+)\.([\w-]+)\.([\w-]+), k=([\w-]{87})$/
    const [, head = '', payload = '', signature = '', k = ''] =
      form.exec(headers.authorization ?? '') ?? []
    expect(k).toBe(world.config.VAPID_PUBLIC_KEY)
    const decoded = (text: string): unknown => JSON.parse(Buffer.from(text, 'base64url').toString())
    expect(decoded(head)).toEqual({ typ: 'JWT', alg: 'ES256' })
    const { aud, exp, sub } = claims.parse(decoded(payload))
    const now = world.now().getTime() / 1000
    expect(aud).toBe(new URL(server.url).origin)
    expect(exp).toBeGreaterThan(now)
    expect(exp).toBeLessThanOrEqual(now + 86_400)
    expect(sub).toMatch(/^(mailto:[^@\s]+@[^@\s]+|https:\/\/\S+)$/)
    expect(isSigned(`${head}.${payload}`, signature, k)).toBe(true)
  }

  return { subscribe, received: server.received }
}

function isSigned(text: string, signature: string, k: string): boolean {
  const point = Buffer.from(k, 'base64url')
  const coordinate = (from: number) => point.subarray(from, from + 32).toString('base64url')
  const jwk = { kty: 'EC', crv: 'P-256', x: coordinate(1), y: coordinate(33) }
  const key = createPublicKey({ key: jwk, format: 'jwk' })
  const way = { key, dsaEncoding: 'ieee-p1363' } as const
  return verify('sha256', Buffer.from(text), way, Buffer.from(signature, 'base64url'))
}
