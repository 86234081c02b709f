import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isRefusal } from '../../../shared/contract/errors.ts'
import {
  type FrozenRequest,
  freezeRequest,
  frozenRequest,
  type RequestWish,
  requestDigest,
  resourceDigest,
} from '../../../shared/x402/challenge.ts'

const production = { allowLoopback: false }
const resourceUrl = 'https://merchant.com/data?a=%26&b=%C3%A9'

function freeze(wish: Partial<RequestWish> = {}) {
  return freezeRequest({ resourceUrl, ...wish }, production)
}

function frozen(wish: Partial<RequestWish> = {}): FrozenRequest {
  const request = freeze(wish)
  if (isRefusal(request)) throw new Error(request.message)
  return request
}

test('a plain address is a GET without headers and body', () => {
  expect(freeze()).toEqual({ url: resourceUrl, method: 'GET', headers: [], body_base64: null })
})

test('the address is kept in its canonical spelling and without its fragment', () => {
  const spelled = freeze({ resourceUrl: ' HTTPS://Merchant.COM:443/a/../b c?x=é#token=1' })

  expect(spelled).toMatchObject({ url: 'https://merchant.com/b%20c?x=%C3%A9' })
})

test.each([
  'http://merchant.com/',
  'https://127.0.0.1/',
  'https://a:b@merchant.com/',
  'https://x.com:8443/',
  'x',
])('%s is not frozen', (address) => {
  expect(freeze({ resourceUrl: address })).toMatchObject({ refusal: 'resource_refused' })
})

describe('bodies', () => {
  test('bytes are kept as they are', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 500 }), (bytes) => {
        const bodyBase64 = Buffer.from(bytes).toString('base64')
        expect(freeze({ bodyBase64, method: 'PUT' })).toMatchObject({ body_base64: bodyBase64 })
      }),
    )
  })

  test('text is kept as its UTF-8 bytes', () => {
    expect(freeze({ body: '{"ü":"🌍"}' })).toMatchObject({
      method: 'POST',
      body_base64: Buffer.from('{"ü":"🌍"}').toString('base64'),
    })
  })

  test('64 KB are the most, however they are given', () => {
    const most = 'x'.repeat(65_536)
    const longer = Buffer.from(`${most}x`).toString('base64')

    expect(freeze({ body: most })).toHaveProperty('body_base64')
    expect(freeze({ body: `${most}x` })).toMatchObject({ refusal: 'invalid_request' })
    expect(freeze({ body: 'é'.repeat(32_769) })).toMatchObject({ refusal: 'invalid_request' })
    expect(freeze({ bodyBase64: longer })).toMatchObject({ refusal: 'invalid_request' })
  })

  test('what is no base64 is refused, and so is a GET with a body', () => {
    expect(freeze({ bodyBase64: '%%%' })).toMatchObject({ refusal: 'invalid_request' })
    expect(freeze({ method: 'GET', body: 'x' })).toMatchObject({ refusal: 'invalid_request' })
  })
})

describe('headers', () => {
  test("an agent's own headers are kept in their order, authorization among them", () => {
    const headers = { 'X-Trace': '1', Authorization: 'Bearer abc', 'Content-Type': 'text/plain' }

    expect(freeze({ headers })).toMatchObject({ headers: Object.entries(headers) })
  })

  test.each([
    'Host',
    'Content-Length',
    'Connection',
    'Keep-Alive',
    'Transfer-Encoding',
    'TE',
    'Trailer',
    'Upgrade',
    'Expect',
    'Proxy-Authorization',
    'Proxy-Connection',
    'Cookie',
    'Accept-Encoding',
    'X-Forwarded-For',
    'Forwarded',
    'Via',
    'CF-Connecting-IP',
    'X-PAYMENT',
    'x-payment-response',
    'PAYMENT-SIGNATURE',
    'payment-required',
    'Payment-Response',
  ])('%s is not for the agent to set', (name) => {
    const message = `headers: ${name} is set by the service`

    expect(freeze({ headers: { [name]: '1' } })).toEqual({ refusal: 'invalid_request', message })
  })

  test.each([
    ['a b', '1'],
    ['', '1'],
    ['a:', '1'],
    ['é', '1'],
    ['x', 'a\r\nX-PAYMENT: 1'],
    ['x', 'a\0'],
    ['x', '🌍'],
  ])('%j: %j cannot be sent', (name, value) => {
    expect(freeze({ headers: { [name]: value } })).toMatchObject({ refusal: 'invalid_request' })
  })

  test('32 headers and 8 KB are the most', () => {
    const many = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, at) => [`x-${at}`, '']))

    expect(freeze({ headers: many(32) })).toHaveProperty('headers')
    expect(freeze({ headers: many(33) })).toMatchObject({ refusal: 'invalid_request' })
    expect(freeze({ headers: { 'x-long': 'x'.repeat(8_187) } })).toMatchObject({
      refusal: 'invalid_request',
    })
  })

  test('whatever is admitted, the platform can send, and no payment is in it', () => {
    const name = fc.oneof(
      fc.string(),
      fc.constantFrom('x-payment', 'X-a', 'accept', 'PAYMENT-x', 'host'),
    )
    fc.assert(
      fc.property(fc.dictionary(name, fc.string({ unit: 'binary' })), (headers) => {
        const request = freeze({ headers })
        if (isRefusal(request)) return
        const sent = new Request(request.url, { headers: request.headers }).headers
        expect([...sent.keys()].filter((key) => /payment|^host$/.test(key))).toEqual([])
      }),
    )
  })
})

describe('the digest', () => {
  test('is SHA-256 over method, address and body', async () => {
    const request = frozen({ body: 'hello' })
    const text = JSON.stringify(['POST', resourceUrl, Buffer.from('hello').toString('base64')])

    expect(await requestDigest(request)).toBe(createHash('sha256').update(text).digest('hex'))
  })

  test('differs when any of the three does', async () => {
    const variants = [
      frozen(),
      frozen({ method: 'DELETE' }),
      frozen({ body: '' }),
      frozen({ body: 'a' }),
      frozen({ body: 'a', method: 'PUT' }),
      frozen({ resourceUrl: `${resourceUrl}&c` }),
    ]

    const digests = await Promise.all(variants.map(requestDigest))

    expect(new Set(digests).size).toBe(variants.length)
  })
})

test('a frozen request survives the way through JSON', () => {
  const request = frozen({ body: 'é', headers: { 'x-a': 'b' } })

  expect(frozenRequest.parse(JSON.parse(JSON.stringify(request)))).toEqual(request)
})

test('a resource is its method, origin and path, whatever is asked of it', async () => {
  const named = await resourceDigest(frozen())

  const same = frozen({ resourceUrl: 'https://merchant.com/data?a=2' })
  const others = [
    frozen({ method: 'DELETE' }),
    frozen({ resourceUrl: 'https://merchant.com/data/2' }),
    frozen({ resourceUrl: 'https://other.merchant.com/data' }),
  ]

  expect(named).toMatch(/^[0-9a-f]{64}$/)
  expect(await resourceDigest(same)).toBe(named)
  expect(await Promise.all(others.map(resourceDigest))).not.toContain(named)
})

test.each([
  'https://merchant.com/%64ata',
  'https://merchant.com/d%61t%61',
  'https://merchant.com//data',
  'https://merchant.com/data/',
  'https://merchant.com/data//',
  'https://merchant.com/./data',
  'https://merchant.com/x/%2e%2e/data',
])('a resource spelled %s is the one that is remembered', async (resourceUrl) => {
  const named = await resourceDigest(frozen({ resourceUrl: 'https://merchant.com/data' }))

  expect(await resourceDigest(frozen({ resourceUrl }))).toBe(named)
})

test('an escape that stands for more than its character is another path', async () => {
  const digests = ['a/b', 'a%2fb', 'a%2Fb', 'a%252fb'].map((path) =>
    resourceDigest(frozen({ resourceUrl: `https://merchant.com/${path}` })),
  )

  expect(new Set(await Promise.all(digests)).size).toBe(3)
})
