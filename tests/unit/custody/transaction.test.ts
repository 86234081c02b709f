import { concat, Interface, keccak256, Signature, Transaction, Wallet } from 'ethers'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { relayGas } from '../../../shared/chains/evm/gas.ts'
import type { SignedAuthorization } from '../../../shared/custody/port.ts'
import {
  confirmRelay,
  type RelayCall,
  signRelay,
  type TransactionSlot,
} from '../../../shared/custody/relay-transaction.ts'
import { address, amountAtomic, chainId, hex, wallet } from './arbitraries.ts'

const token = new Interface([
  'function transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,uint8,bytes32,bytes32)',
])

const slot = fc
  .record({
    chainId,
    nonce: fc.nat(),
    maxPriorityFeePerGas: fc.bigInt({ min: 0n, max: 10n ** 12n }),
    more: fc.bigInt({ min: 0n, max: 10n ** 12n }),
    token: address,
  })
  .map(({ more, ...rest }) => ({ ...rest, maxFeePerGas: rest.maxPriorityFeePerGas + more }))

const time = fc.nat().map(String)
const signature = fc
  .tuple(wallet, hex(32))
  .map(([{ key }, digest]) =>
    new Wallet(`0x${Buffer.from(key).toString('hex')}`).signingKey.sign(digest),
  )
  .map((signed) => signed.serialized)
const authorization = fc.record({
  from: address,
  to: address,
  value: amountAtomic.map(String),
  validAfter: time,
  validBefore: time,
  nonce: hex(32),
  signature,
})
const carrying = (asset: string, authorization: SignedAuthorization) => ({
  kind: 'transfer' as const,
  token: asset,
  authorization,
})
const relay = fc
  .tuple(wallet, slot, authorization)
  .map(([relayer, { token: asset, ...slot }, signed]) => ({
    relayer,
    asset,
    signed,
    request: { ...slot, gasPayer: relayer.address, calls: [carrying(asset, signed)] },
  }))

const [relaySample] = fc.sample(relay, { numRuns: 1, seed: 3 })
const [strangerSample] = fc.sample(wallet, { numRuns: 1, seed: 4 })
const [otherAddress] = fc.sample(address, { numRuns: 1, seed: 5 })
if (!relaySample || !strangerSample || !otherAddress) throw new Error('fast-check gave no sample')

/** Returns everything except the call data, in the field names of ethers. */
function frame(from: string, request: TransactionSlot & { token: string }, gasLimit: bigint) {
  const { token: to, nonce, maxFeePerGas, maxPriorityFeePerGas } = request
  const fees = { gasLimit, maxFeePerGas, maxPriorityFeePerGas }
  const chainId = BigInt(request.chainId)
  return { type: 2, from, to, value: 0n, chainId, nonce, accessList: [], ...fees }
}

test('a relay is one call of the token with the authorization, says ethers', async () => {
  const agrees = fc.asyncProperty(relay, async ({ relayer, asset, signed, request }) => {
    const { hash, raw } = await signRelay(relayer.key, request)
    const { from, to, value, validAfter, validBefore, nonce, signature } = signed
    const { v, r, s } = Signature.from(signature)
    const parsed = Transaction.from(raw)

    expect(parsed.hash).toBe(hash)
    expect(keccak256(raw)).toBe(hash)
    expect(parsed).toMatchObject(
      frame(relayer.address, { ...request, token: asset }, relayGas(request.chainId, 1)),
    )
    const args = [from, to, value, validAfter, validBefore, nonce, v, r, s]
    expect(parsed.data).toBe(token.encodeFunctionData('transferWithAuthorization', args))
  })

  await fc.assert(agrees, { numRuns: 40 })
})

/** Signs the same transaction with one change, as a compromised library could. */
async function altered(key: Uint8Array, raw: string, change: Partial<Transaction>) {
  const unsigned = Object.assign(Transaction.from(raw), { signature: null }, change)
  return new Wallet(`0x${Buffer.from(key).toString('hex')}`).signTransaction(unsigned)
}

const changes: [string, Partial<Transaction>][] = [
  ['chainId', { chainId: 999n }],
  ['nonce', { nonce: 1 }],
  ['maxFeePerGas', { maxFeePerGas: 10n ** 15n }],
  ['maxPriorityFeePerGas', { maxPriorityFeePerGas: 1n }],
  ['gas', { gasLimit: 1_000_000n }],
  ['to', { to: otherAddress }],
  ['value', { value: 1n }],
  ['accessed', { accessList: [{ address: otherAddress, storageKeys: [] }] }],
]

test.each(changes)(
  'bytes with another %s do not pass for the asked transaction',
  async (field, change) => {
    const { relayer, request } = relaySample
    const relayed = await altered(relayer.key, (await signRelay(relayer.key, request)).raw, change)

    await expect(confirmRelay(relayer.key, request, relayed)).rejects.toThrow(`in ${field}`)
  },
)

/** Returns the call data with one bit of one word changed. */
function changeWord(data: string, word: number): string {
  const last = 2 + 8 + word * 64 + 63
  const digit = (Number.parseInt(data.charAt(last), 16) ^ 1).toString(16)
  return `${data.slice(0, last)}${digit}${data.slice(last + 1)}`
}

test('bytes that relay an authorization with any other word do not pass', async () => {
  const { relayer, request } = relaySample
  const { raw } = await signRelay(relayer.key, request)
  const { data } = Transaction.from(raw)
  const fields = ['from', 'to', 'value', 'validAfter', 'validBefore', 'nonce', 'v', 'r', 's']

  for (const [word, field] of fields.entries()) {
    const bytes = await altered(relayer.key, raw, { data: changeWord(data, word) })
    const reading = confirmRelay(relayer.key, request, bytes)
    await expect(reading).rejects.toThrow(new RegExp(`in ${field}$`))
  }
})

test('bytes with another function or with more call data do not pass', async () => {
  const { relayer, request } = relaySample
  const { raw } = await signRelay(relayer.key, request)
  const { data } = Transaction.from(raw)
  const read = async (changed: string) =>
    confirmRelay(relayer.key, request, await altered(relayer.key, raw, { data: changed }))

  await expect(read(data.replace('0xe3ee160e', '0x095ea7b3'))).rejects.toThrow()
  await expect(read(`${data}00`)).rejects.toThrow('292 bytes')
  await expect(read(data.slice(0, -2))).rejects.toThrow('292 bytes')
})

test('bytes of another sender or of another kind do not pass', async () => {
  const { relayer, request } = relaySample
  const { raw } = await signRelay(relayer.key, request)
  const stranger = await altered(strangerSample.key, raw, {})
  const legacy = await altered(relayer.key, raw, {
    type: 0,
    maxFeePerGas: null,
    maxPriorityFeePerGas: null,
    accessList: null,
  })

  await expect(confirmRelay(relayer.key, request, stranger)).rejects.toThrow('in signature')
  await expect(confirmRelay(relayer.key, request, legacy)).rejects.toThrow('EIP-1559')
})

test('a relay of a signature that no token accepts is not signed', async () => {
  const { relayer, asset, signed, request } = relaySample
  const odd = { ...signed, signature: `${signed.signature.slice(0, -2)}00` }
  const calls = [carrying(asset, odd)]

  await expect(signRelay(relayer.key, { ...request, calls })).rejects.toThrow('27 or 28')
})

/** Returns a request whose nonce grows with each read, so reading back finds another value. */
function drifting<T extends object>(request: T): T & { nonce: number } {
  let nonce = 0
  return Object.defineProperty({ ...request, nonce }, 'nonce', { get: () => ++nonce })
}

test('signing reads its own bytes back before it answers', async () => {
  const relayed = signRelay(relaySample.relayer.key, drifting(relaySample.request))

  await expect(relayed).rejects.toThrow('in nonce')
})

const batch = fc
  .tuple(wallet, slot, fc.array(fc.tuple(address, authorization), { minLength: 2, maxLength: 25 }))
  .map(([relayer, slot, members]) => ({
    relayer,
    request: {
      ...slot,
      gasPayer: relayer.address,
      calls: members.map(([asset, signed]) => carrying(asset, signed)),
    },
  }))

test('a batch tries each authorization through Multicall3, says ethers', async () => {
  const multicall = new Interface([
    'function aggregate3((address target, bool allowFailure, bytes callData)[])',
  ])
  const agrees = fc.asyncProperty(batch, async ({ relayer, request }) => {
    const parsed = Transaction.from((await signRelay(relayer.key, request)).raw)
    const single = await Promise.all(
      request.calls.map(async (call) =>
        Transaction.from((await signRelay(relayer.key, { ...request, calls: [call] })).raw),
      ),
    )

    const inner = single.map(({ to, data }) => [to, true, data])
    const token = '0xcA11bde05977b3631167028862bE2a173976CA11'
    const gas = relayGas(request.chainId, request.calls.length)
    expect(parsed).toMatchObject(frame(relayer.address, { ...request, token }, gas))
    expect(parsed.data).toBe(multicall.encodeFunctionData('aggregate3', [inner]))
  })

  await fc.assert(agrees, { numRuns: 10 })
})

test('bytes of a batch with another member, or one less, do not pass', async () => {
  const [sample] = fc.sample(batch, { numRuns: 1, seed: 6 })
  if (!sample) throw new Error('fast-check gave no sample')
  const { relayer, request } = sample
  const [first, ...rest] = request.calls
  const other = carrying(relaySample.asset, relaySample.signed)
  const sign = async (calls: RelayCall[]) =>
    (await signRelay(relayer.key, { ...request, calls })).raw

  for (const calls of [[other, ...rest], rest, [...rest, ...(first ? [first] : [])]]) {
    await expect(confirmRelay(relayer.key, request, await sign(calls))).rejects.toThrow()
  }
})

test('a slot without calls is the gas payer calling itself with nothing', async () => {
  const { relayer, request } = relaySample

  const parsed = Transaction.from((await signRelay(relayer.key, { ...request, calls: [] })).raw)

  expect(parsed).toMatchObject({ to: relayer.address, value: 0n, data: '0x' })
})

describe('a call whose payee carries out an order', () => {
  const gate = new Interface([
    'function carry((address from,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 base,uint8 v,bytes32 r,bytes32 s) held,bytes order)',
  ])
  const base = `0x${'5a'.repeat(32)}` as const
  const order = `0x${'c3'.repeat(96)}` as const
  const { relayer, asset, signed, request } = relaySample
  const nonce = keccak256(concat([base, keccak256(order)]))
  const call = { ...carrying(asset, { ...signed, nonce }), carried: { base, order } }
  const calls = [call]

  test('goes to the payee with the order and the gas of several calls, says ethers', async () => {
    const parsed = Transaction.from((await signRelay(relayer.key, { ...request, calls })).raw)

    const { from, to, value, validAfter, validBefore, signature } = signed
    const { v, r, s } = Signature.from(signature)
    const held = { from, value, validAfter, validBefore, base, v, r, s }
    const gas = relayGas(request.chainId, 8)
    expect(parsed).toMatchObject(frame(relayer.address, { ...request, token: to }, gas))
    expect(parsed.data).toBe(gate.encodeFunctionData('carry', [held, order]))
  })

  test('is not signed with another order or payment than its nonce commits to', async () => {
    for (const carried of [
      { base, order: base },
      { base: order.slice(0, 66), order },
    ]) {
      const wrong = signRelay(relayer.key, { ...request, calls: [{ ...call, carried }] })
      await expect(wrong).rejects.toThrow('in nonce')
    }
  })
})
