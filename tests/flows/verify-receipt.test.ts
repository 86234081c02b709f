/** `npm run verify-receipt` works for a third party: a process with a file and no network. */
import { beforeAll, describe, expect, test } from 'vitest'
import * as z from 'zod'
import { createReceiptKeys } from '../../scripts/local/secrets.ts'
import {
  checkReceipt,
  claimsOf,
  type ReceiptFile,
  readReceipt,
} from '../../scripts/verify-receipt/check.ts'
import { excerptOf } from '../support/cases.ts'
import { passkeyOwnerOf, waitingPayment } from '../support/consents.ts'
import { ownerOf } from '../support/owner.ts'
import { openVerifier } from '../support/verifier.ts'
import { start } from '../support/world.ts'

const { fileOf, verify } = openVerifier('verify-receipt')

const kinds = ['payment', 'batch', 'mandate', 'session'] as const
type Kind = (typeof kinds)[number]
const answers = new Map<Kind, Record<string, unknown>>()
const ids = new Map<Kind, string>()

beforeAll(async () => {
  const world = await start()
  const agent = await world.agent('full')
  const plain = await world.agent('full')
  const bySession = await waitingPayment(world, plain)
  await (await ownerOf(world, plain)).decide(bySession, 'approved')
  const owner = await passkeyOwnerOf(world, agent)
  const [alone, one, two] = [
    await waitingPayment(world, agent),
    await waitingPayment(world, agent),
    await waitingPayment(world, agent),
  ]
  await owner.approve(alone)
  await owner.approveBatch([one, two])
  const mandate = await owner.grant(agent)
  const receiptOf = async (kind: Kind, asked: string, id: string, who = agent) => {
    answers.set(kind, (await who.get(`/consent-receipt?${asked}=${id}`)).body)
    ids.set(kind, id)
  }
  await receiptOf('payment', 'payment_id', alone)
  await receiptOf('batch', 'payment_id', two)
  await receiptOf('mandate', 'mandate_id', mandate)
  await receiptOf('session', 'payment_id', bySession, plain)
})

const receiptIn = (kind: Kind) => readReceipt(JSON.stringify(answers.get(kind)))

test.each([
  ['payment', "The owner's passkey signed the terms of payment", 4],
  ['batch', 'one of 2 approved at once', 4],
  ['mandate', "The owner's passkey signed the terms of mandate", 4],
  ['session', 'The service states that the owner, signed in, approved the terms of payment', 2],
] as const)(
  'a receipt of a %s is verified offline, with the keys in it or the reader’s own',
  async (kind, sentence, checks) => {
    const answer = answers.get(kind)
    const keys = fileOf(answer?.['public_keys'])

    const own = await verify(fileOf(answer))
    const given = await verify(fileOf(answer?.['receipt']), '--keys', keys)

    for (const { code, text } of [own, given]) {
      expect(code).toBe(0)
      expect(text).toContain(sentence)
      expect(text).toContain(ids.get(kind))
    }
    expect(own.text.match(/^ok {4}/gm)).toHaveLength(checks + 1)
    expect(given.text.match(/^ok {4}/gm)).toHaveLength(checks)
    expect(own.text).toContain('which the file itself brings: compare it with http://localhost/web')
    expect(given.text).not.toContain('which the file itself brings')
  },
)

test("keys of somebody else's are not those that signed it", async () => {
  const keys = fileOf(createReceiptKeys().publicKeys)

  const { code, text } = await verify(fileOf(answers.get('payment')), '--keys', keys)

  expect(code).toBe(1)
  expect(text.match(/^FAIL.*/gm)).toHaveLength(1)
  expect(text).toContain('FAIL  a key that you trust signed it: it names the key')
  expect(text).toContain('This proves nothing.')
})

test('what stands around a receipt has to be what was signed', async () => {
  const answer = answers.get('payment')
  const changed = [
    put(answer, ['terms', 'amount_atomic'], '5'),
    put(answer, ['terms', 'pay_to'], undefined),
    put(answer, ['level'], 'user_session'),
    put(answer, ['decided_at'], '2026-01-01T00:00:00.000Z'),
    put(answer, ['digest'], 'ab'.repeat(32)),
  ]

  for (const one of changed) {
    const { code, text } = await verify(fileOf(one))

    expect(code).toBe(1)
    expect(text.match(/^FAIL.*/gm)).toEqual([
      'FAIL  the answer around it says the same: nobody signed what it says',
    ])
  }
})

test('a receipt alone needs keys', async () => {
  const { code, text } = await verify(fileOf(answers.get('payment')?.['receipt']))

  expect(code).toBe(1)
  expect(text).toContain('the file holds no keys; give --keys')
})

const json = z.record(z.string(), z.unknown())

/** Returns a receipt that states something else under the same signature. */
function stating(
  file: ReceiptFile,
  change: (claims: Record<string, unknown>) => unknown,
): ReceiptFile {
  const [header, , signature] = file.receipt.split('.')
  const claims = change(json.parse(structuredClone(claimsOf(file.receipt))))
  const middle = Buffer.from(JSON.stringify(claims)).toString('base64url')
  return { ...file, receipt: [header, middle, signature].join('.') }
}

/** Yields every text and number in it with one character changed, by its path. */
function* flips(value: unknown, path: string[] = []): Generator<[string[], unknown]> {
  if (typeof value === 'string') {
    for (const at of new Set([0, value.length >> 1, value.length - 1])) {
      const other = value[at] === 'b' ? 'c' : 'b'
      yield [path, value.slice(0, at) + other + value.slice(at + 1)]
    }
  } else if (typeof value === 'number') {
    yield [path, value + 1]
  } else if (typeof value === 'boolean') {
    yield [path, !value]
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, inner] of Object.entries(value)) yield* flips(inner, [...path, key])
  }
}

function put(value: unknown, [first, ...rest]: readonly string[], other: unknown): unknown {
  if (first === undefined) return other
  if (Array.isArray(value)) return value.with(Number(first), put(value[Number(first)], rest, other))
  const object = json.parse(value)
  return { ...object, [first]: put(object[first], rest, other) }
}

describe.each(kinds)('of a receipt of a %s', (kind) => {
  test('whatever character is flipped fails, and the line says which check', async () => {
    const file = receiptIn(kind)
    let flipped = 0
    for (const [path, other] of flips(claimsOf(file.receipt))) {
      const changed = stating(file, (claims) => put(claims, path, other))
      const failed = await failedOf(changed)
      flipped += 1
      const where = path.join('.')
      expect(failed, where).toContain('signer')
      if (path[0] === 'terms' || path[0] === 'digest' || path[0] === 'batch') {
        expect(failed, where).toContain('digest')
      }
      const isSigned = ['public_key', 'client_data', 'authenticator_data', 'signature']
      if (path[0] === 'passkey' && isSigned.includes(path[1] ?? '')) {
        expect(failed, where).toContain('passkey')
      }
    }
    expect(flipped).toBeGreaterThan(25)
  })
})

/** Returns the names of the failed checks; an unreadable receipt fails all of them. */
async function failedOf(file: ReceiptFile): Promise<string[]> {
  try {
    const checks = await checkReceipt(file, undefined)
    const failed = checks.filter(({ fault }) => fault !== undefined).map(({ name }) => name)
    const short: [RegExp, string][] = [
      [/signed it$/, 'signer'],
      [/digest is/, 'digest'],
      [/passkey/, 'passkey'],
      [/pages/, 'place'],
    ]
    return failed.map((name) => short.find(([pattern]) => pattern.test(name))?.[1] ?? name)
  } catch {
    return ['signer', 'digest', 'passkey']
  }
}

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

test('whatever character of the signed text is flipped, the signature fails', async () => {
  const file = receiptIn('payment')
  for (const at of excerptOf(
    Array.from(file.receipt, (_, index) => index),
    150,
  )) {
    if (file.receipt[at] === '.') continue
    const place = alphabet.indexOf(file.receipt[at] ?? '')
    // The replacement differs only in the last bit, which the last character of base64url does not use.
    const receipt = file.receipt.slice(0, at) + alphabet[place ^ 1] + file.receipt.slice(at + 1)
    expect(await failedOf({ ...file, receipt }), String(at)).toContain('signer')
  }
})

test.each([
  ['no file', () => [], 'give one FILE'],
  ['a missing file', () => [`${fileOf('')}.none`], 'no such file'],
  ['text', () => [fileOf('receipt')], 'not JSON'],
  ['another object', () => [fileOf({})], 'not a consent receipt: receipt'],
  [
    'another token',
    () => [fileOf(`${Buffer.from('{}').toString('base64url')}.e30.AA`)],
    'is not that of a receipt',
  ],
  [
    'keys that are none',
    () => [fileOf(answers.get('payment')), '--keys', fileOf({})],
    'not a JWKS',
  ],
  ['an option of its own', () => ['--sure'], "Unknown option '--sure'"],
])('%s is refused with a sentence', async (_what, args, sentence) => {
  const { code, text } = await verify(...args())

  expect(code).toBe(1)
  expect(text).toContain(sentence)
  expect(text).not.toContain('    at ')
})

test('--help says what it takes', async () => {
  const { code, text } = await verify('--help')

  expect(code).toBe(0)
  expect(text).toContain('npm run verify-receipt -- FILE')
})
