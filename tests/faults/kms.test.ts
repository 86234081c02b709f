/**
 * Custody whose root keys a KMS seals: it signs as before, asks the KMS once, and without it nothing is signed or lost.
 * The services are fakes that check requests as the originals do.
 */
import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { openSecret, sealSecret } from '../../shared/kms.ts'
import type { World } from '../../shared/world.ts'
import { type FakeKms, openAwsKms, openGoogleKms } from '../support/fake-kms.ts'
import { acquainted, usdcOf } from '../support/ledger.ts'
import { textWith } from '../support/matching.ts'
import { anew } from '../support/wish.ts'
import { start } from '../support/world.ts'

const name = 'CUSTODY_ROOT_KEYS'
const path = '/wallet-custodial-transfer'
const opened = { aws: openAwsKms, google: openGoogleKms }
const services = ['aws', 'google'] as const
const denied = { aws: 'AccessDeniedException', google: 'PERMISSION_DENIED' }
const paid = 10_000_000n

function outsideOf(world: World, kms: FakeKms) {
  return { ...world, fetch: kms.over(() => Promise.reject(new TypeError('fetch failed'))) }
}

/** Starts a world with roots in the clear, and an isolate of it whose custody has them sealed. */
async function sealedWorld(service: (typeof services)[number]) {
  const root = randomBytes(32).toString('base64')
  const roots = JSON.stringify({ 1: root })
  const world = await start({ chain: true, rootKeys: roots })
  const kms = opened[service](() => world.world.now())
  const rootKeys = await sealSecret(outsideOf(world.world, kms), name, roots, kms.key)
  kms.asked.length = 0
  const { fetch } = world.world
  const isolate = world.worker({ rootKeys, fetch: kms.over(fetch) })
  const { payer, payee } = await acquainted(world)
  const order = { chain: 'base-sepolia', token: 'USDC', amount: '10', recipient: payee.alias }
  return { world, kms, root, rootKeys, isolate, payer, payee, order }
}

test.each(services)(
  'with roots that %s seals it pays, and the KMS is asked once',
  async (service) => {
    const { world, kms, root, rootKeys, isolate, payer, payee, order } = await sealedWorld(service)

    const first = await isolate.post(payer, path, anew(order))
    const second = await isolate.post(payer, path, anew(order))

    expect([first.body, second.body]).toMatchObject([
      { status: 'submitted' },
      { status: 'submitted' },
    ])
    expect(await usdcOf(world, payee)).toBe(2n * paid)
    expect(kms.asked).toEqual(['decrypt'])
    expect(rootKeys).not.toContain(root)
  },
)

test.each(
  services.flatMap((service) => [
    [service, 'silent', 'did not answer'] as const,
    [service, denied[service], denied[service]] as const,
  ]),
)(
  'while %s is %s nothing is signed, and the same order is paid later',
  async (service, how, told) => {
    const { world, kms, isolate, payer, payee, order } = await sealedWorld(service)
    const wish = anew(order)
    kms.refuses = how

    const refused = await isolate.post(payer, path, wish)
    const moved = await usdcOf(world, payee)
    kms.refuses = undefined
    const sent = await isolate.post(payer, path, wish)

    expect(refused).toMatchObject({ status: 503, body: { error: 'unavailable' } })
    expect(moved).toBe(0n)
    expect(sent.body).toMatchObject({ status: 'submitted' })
    expect(await usdcOf(world, payee)).toBe(paid)
    expect(JSON.stringify(world.log)).toContain(`the KMS of ${kms.key.key} `)
    expect(JSON.stringify(world.log)).toContain(told)
  },
)

test.each(services)(
  'what %s sealed for another binding, or at another time, it does not open',
  async (service) => {
    const { world } = await start()
    const kms = opened[service](() => world.now())
    const outside = outsideOf(world, kms)
    const sealed = await sealSecret(outside, name, 'roots', kms.key)
    const late = { ...outside, now: () => new Date(world.now().getTime() + 3_600_000) }

    const read = await openSecret(outside, name, sealed)

    expect(read).toBe('roots')
    const refused = { refusal: { log: textWith(`the KMS of ${kms.key.key} answered 40`) } }
    await expect(openSecret(outside, 'VAULT_ROOT_KEYS', sealed)).rejects.toMatchObject(refused)
    await expect(openSecret(late, name, sealed)).rejects.toMatchObject(refused)
  },
)

test.each([
  ['{"1":"AAAA"}', '{"1":"AAAA"}'],
  ['no JSON', 'no JSON'],
])('a secret without a KMS is what it says: %s', async (text, read) => {
  const { world } = await start()

  expect(await openSecret(world, name, text)).toBe(read)
})

test.each([{ kms: 'other' }, { kms: 'aws', key: 'arn:aws:kms:x', ciphertext: 'AAAA' }])(
  'a KMS that is not all there is an error that repeats nothing: %j',
  async (fields) => {
    const { world } = await start()
    const text = JSON.stringify({ ...fields, secret_access_key: 'hidden' })

    const error = await openSecret(world, name, text).catch(String)

    expect(error).toBe(`Error: ${name} names a KMS, but not all that opens it`)
  },
)
