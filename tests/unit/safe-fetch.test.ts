import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type SafeRequest, safeFetch } from '../../shared/egress/safe-fetch.ts'
import { answering, drip, expiring, gzipBomb, outside, serverThat, zeros } from '../support/http.ts'

const limits = { timeoutMilliseconds: 5_000, bytesMax: 1_000 }
const megabyte = 1_048_576

function get(url: string, headers: SafeRequest['headers'] = []): SafeRequest {
  return { url: new URL(url), method: 'GET', headers }
}

test('an honest answer comes back with status, headers and bytes', async () => {
  const server = await serverThat(answering(402, { 'x-one': '1' }, 'é🌍'))
  const world = outside()

  const fetched = await safeFetch(world, get(server.url, [['x-two', '2']]), limits)

  expect(fetched).toMatchObject({ kind: 'answered', status: 402, truncated: false })
  expect(fetched.kind === 'answered' && fetched.headers.get('x-one')).toBe('1')
  expect(fetched.kind === 'answered' && new TextDecoder().decode(fetched.body)).toBe('é🌍')
  expect(server.received[0]?.headers).toMatchObject({ 'x-two': '2', 'accept-encoding': 'identity' })
  expect(world.deadlines).toEqual([5_000])
})

test('method and body arrive to the byte', async () => {
  const server = await serverThat(answering(200))
  const body = Uint8Array.from({ length: 256 }, (_, index) => index)

  await safeFetch(outside(), { ...get(server.url), method: 'PATCH', body }, limits)

  expect(server.received[0]).toMatchObject({ method: 'PATCH', body: Buffer.from(body) })
})

test('an address that is refused is never fetched', async () => {
  const server = await serverThat(answering(200))
  const world = outside({ allowLoopback: false })

  const fetched = await safeFetch(world, get(server.url), limits)

  expect(fetched).toEqual({ kind: 'refused', reason: 'The address is not https.' })
  expect([world.fetched, server.received]).toEqual([[], []])
})

test.each([300, 301, 302, 303, 307, 308])(
  'a redirect with %i is told and not followed',
  async (status) => {
    const target = await serverThat(answering(200))
    const server = await serverThat(answering(status, { location: target.url }))

    const fetched = await safeFetch(outside(), get(server.url), limits)

    expect(fetched).toMatchObject({ kind: 'redirected', status, location: target.url })
    expect(target.received).toEqual([])
  },
)

test('a redirect that leads nowhere has no location', async () => {
  const server = await serverThat(answering(302))

  const fetched = await safeFetch(outside(), get(server.url), limits)

  expect(fetched).toMatchObject({ kind: 'redirected', status: 302, location: null })
})

test('304 is an answer', async () => {
  const server = await serverThat(answering(304, { etag: '"1"' }))

  expect(await safeFetch(outside(), get(server.url), limits)).toMatchObject({ kind: 'answered' })
})

test('a server that never answers costs the deadline and no more', async () => {
  const world = outside()
  const server = await serverThat(expiring(world))

  const fetched = await safeFetch(world, get(server.url), limits)

  expect(fetched).toEqual({ kind: 'timeout' })
})

test('the deadline also ends a body that drips', async () => {
  const world = outside()
  const server = await serverThat(expiring(world, 'begun', drip))

  const fetched = await safeFetch(world, get(server.url), limits)

  expect(fetched).toEqual({ kind: 'timeout' })
})

test('of 50 MB no more is read than the limit, and the connection is dropped', async () => {
  const server = await serverThat(zeros(50 * megabyte))

  const fetched = await safeFetch(outside(), get(server.url), limits)

  expect(fetched).toMatchObject({ kind: 'answered', truncated: true })
  expect(fetched.kind === 'answered' && fetched.body.byteLength).toBe(1_000)
  await expect.poll(server.closedEarly).toBe(1)
})

test('a body of exactly the limit is whole, one byte more is not', async () => {
  const whole = await serverThat(answering(200, {}, 'x'.repeat(1_000)))
  const longer = await serverThat(answering(200, {}, 'x'.repeat(1_001)))

  const fetched = [
    await safeFetch(outside(), get(whole.url), limits),
    await safeFetch(outside(), get(longer.url), limits),
  ]

  expect(fetched).toMatchObject([{ truncated: false }, { truncated: true }])
})

test('however a body is cut into chunks, its first bytes up to the limit are what is read', async () => {
  const chunks = fc.array(fc.uint8Array({ maxLength: 9 }), { maxLength: 9 })
  await fc.assert(
    fc.asyncProperty(chunks, fc.integer({ min: 0, max: 40 }), async (parts, bytesMax) => {
      const whole = Uint8Array.from(parts.flatMap((part) => [...part]))
      const body = ReadableStream.from(parts)
      const world = { ...outside(), fetch: () => Promise.resolve(new Response(body)) }

      const fetched = await safeFetch(world, get('https://merchant.com/'), { ...limits, bytesMax })

      const truncated = whole.length > bytesMax
      expect(fetched).toMatchObject({ body: whole.slice(0, bytesMax), truncated })
    }),
  )
})

test('a gzip bomb is refused before a byte of it is unpacked', async () => {
  const server = await serverThat(gzipBomb(200 * megabyte))

  const fetched = await safeFetch(outside(), get(server.url), limits)

  expect(fetched).toEqual({
    kind: 'refused',
    reason: 'The answer is compressed, which was not asked for.',
  })
  await expect.poll(server.closedEarly).toBe(1)
})

test.each(['gzip', 'br', 'deflate', 'zstd', 'GZIP', 'identity, gzip', 'x-unknown'])(
  'an answer encoded as %s is refused',
  async (encoding) => {
    const server = await serverThat(answering(200, { 'content-encoding': encoding }, gzipSync('x')))

    expect(await safeFetch(outside(), get(server.url), limits)).toMatchObject({ kind: 'refused' })
  },
)

test('identity is not an encoding', async () => {
  const server = await serverThat(answering(200, { 'content-encoding': 'identity' }, 'x'))

  expect(await safeFetch(outside(), get(server.url), limits)).toMatchObject({ kind: 'answered' })
})

test('a broken neighbour is unreachable, whatever breaks', async () => {
  const hangsUp = await serverThat((response) => response.destroy())
  const stopsHalfway = await serverThat((response) => {
    response.writeHead(200, { 'content-length': '100' }).write('half', () => response.destroy())
  })
  const talksNonsense = await serverThat((response) => response.socket?.end('SSH-2.0-x\r\n\r\n'))
  const floodsHeaders = await serverThat((response) => {
    response.writeHead(200, { 'x-flood': 'x'.repeat(100_000) }).end()
  })

  for (const { url } of [hangsUp, stopsHalfway, talksNonsense, floodsHeaders]) {
    expect(await safeFetch(outside(), get(url), limits)).toMatchObject({ kind: 'unreachable' })
  }
})

test('no cookie and no header of its own making travels with a request', async () => {
  const server = await serverThat(answering(200, { 'set-cookie': 'a=1' }))
  const world = outside()

  await safeFetch(world, get(server.url), limits)
  await safeFetch(world, get(server.url), limits)

  for (const { headers } of server.received) {
    expect(headers).not.toHaveProperty('cookie')
    expect(headers).not.toHaveProperty('authorization')
    expect(headers).not.toHaveProperty('referer')
  }
})
