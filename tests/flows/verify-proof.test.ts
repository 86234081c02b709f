/** `npm run verify-proof` works for a third party: a process with a file and a node. */
import { beforeAll, expect, test } from 'vitest'
import { startChain } from '../../scripts/local/chain.ts'
import { minedTogether } from '../support/chain-world.ts'
import { acquainted } from '../support/ledger.ts'
import { crowd, type Included, provenIn } from '../support/transfer-proof.ts'
import { openVerifier } from '../support/verifier.ts'
import { type Answer, finalize, start, type TestWorld } from '../support/world.ts'

const { fileOf, verify } = openVerifier('verify-proof')

let world: TestWorld
let answer: Answer
let proof: Included
let unsettled: Answer
beforeAll(async () => {
  world = await start({ chain: true })
  const { payer, payee } = await acquainted(world)
  const order = { recipient: payee.alias, chain: 'base-sepolia', token: 'USDC', amount: '5' }
  const look = (transfer_id: unknown) =>
    payer.post('/transfer-status', { transfer_id, include_proof: true })
  const sent = await minedTogether(world.chain.rpcUrl, async () => {
    await crowd(world.chain.rpcUrl, world.chain.usdc, 8)
    const { body } = await payer.post('/wallet-custodial-transfer', order)
    unsettled = await look(body['transfer_id'])
    return body['transfer_id']
  })
  answer = await look(sent)
  proof = provenIn(answer)
})

test('an answer of transfer_status is verified against a node, and says how final it is', async () => {
  const { rpcUrl } = world.chain
  const file = fileOf(answer.body)

  const before = await verify(file, '--rpc', rpcUrl)
  await finalize(world.chain)
  const after = await verify(file, '--rpc', rpcUrl, '--block-hash', proof.block.hash)

  const claim = `${proof.from} paid 5000000 of ${proof.token} to ${proof.to} on eip155:84532`
  expect(before.text).toContain(`${claim} in block ${proof.block.number}, not final yet.`)
  expect(after.text).toContain(`${claim} in block ${proof.block.number}, finalized.`)
  expect(after.text.match(/^ok {4}/gm)).toHaveLength(13)
  expect([before.code, after.code]).toEqual([0, 0])
})

test('a proof alone is verified with nothing but a block hash', async () => {
  const trusted = await verify(fileOf(proof), '--block-hash', proof.block.hash.toUpperCase())
  const other = await verify(fileOf(proof), '--block-hash', proof.tx_hash)

  expect(trusted.code).toBe(0)
  expect(other).toMatchObject({ code: 1 })
  expect(other.text).toContain('FAIL  the block hash is the trusted one')
})

test('a proof with one more unit in it fails on the line that says so', async () => {
  const file = fileOf({ ...proof, amount_atomic: '5000001' })

  const { code, text } = await verify(file, '--rpc', world.chain.rpcUrl)

  expect(code).toBe(1)
  expect(text.match(/^FAIL.*/gm)).toHaveLength(1)
  expect(text).toContain('FAIL  the log is a transfer of this amount from payer to payee')
  expect(text).toContain('This proves nothing.')
})

test("another chain's node and a node that is down confirm nothing", async () => {
  const other = await startChain({ chainId: 421614 })
  const elsewhere = await verify(fileOf(proof), '--rpc', other.rpcUrl)
  await other.stop()
  const down = await verify(fileOf(proof), '--rpc', other.rpcUrl)

  expect([elsewhere.code, down.code]).toEqual([1, 1])
  expect(elsewhere.text).toContain("FAIL  the node's chain is the proof's")
  expect(elsewhere.text).toContain('FAIL  the block is in the chain at its height')
  expect(down.text).toMatch(/^the node does not answer: /)
})

test.each([
  ['no file', () => [], 'give one FILE'],
  ['a missing file', () => [`${fileOf('')}.none`, '--block-hash', '0x'], 'no such file'],
  ['text', () => [fileOf('proof'), '--block-hash', '0x'], 'not JSON'],
  ['another object', () => [fileOf({}), '--block-hash', '0x'], 'not a transfer proof: chain'],
  [
    'a garbled proof',
    () => [fileOf({ ...proof, from: '0x1' }), '--rpc', ''],
    'from not an address',
  ],
  ['an unsettled payment', () => [fileOf(unsettled.body), '--rpc', ''], 'is not settled'],
  ['nothing to trust', () => [fileOf(proof)], 'give --rpc URL or --block-hash HASH'],
  ['an option of its own', () => ['--sure'], "Unknown option '--sure'"],
])('%s is refused with a sentence', async (_what, args, sentence) => {
  const { code, text } = await verify(...args())

  expect(code).toBe(1)
  expect(text).toContain(sentence)
  expect(text).not.toContain('    at ')
})

test('a proof without inclusion proves nothing, and --help says what does', async () => {
  const file = fileOf({ ...proof, inclusion: null })

  const bare = await verify(file, '--block-hash', proof.block.hash)
  const help = await verify('--help')

  expect(bare.code).toBe(1)
  expect(bare.text).toContain('FAIL  the log is in the block: the proof does not show it')
  expect(help.code).toBe(0)
  expect(help.text).toContain('npm run verify-proof -- FILE')
})
