/** An independent checker verifies each proof of transfer_status, and rejects every change of it. */
import fc from 'fast-check'
import { beforeAll, expect, test } from 'vitest'
import { fund } from '../../scripts/local/chain.ts'
import { askNode, type NodeView } from '../../scripts/verify-proof/check.ts'
import { minedTogether } from '../support/chain-world.ts'
import { acquainted } from '../support/ledger.ts'
import { textWith } from '../support/matching.ts'
import { crowd, faultsOf, type Included, mutationsOf, provenIn } from '../support/transfer-proof.ts'
import { type Agent, start, type TestWorld } from '../support/world.ts'

const order = { chain: 'base-sepolia', token: 'USDC', amount: '5' }

let world: TestWorld
beforeAll(async () => {
  world = await start({ chain: true })
})

/** Pays two transfers in one block with other transactions. Returns each payer with its transfer. */
async function paidInOneBlock() {
  const { rpcUrl, usdc } = world.chain
  const [one, other] = [await acquainted(world), await acquainted(world)]
  return minedTogether(rpcUrl, async () => {
    const first = await pay(one.payer, one.payee)
    await crowd(rpcUrl, usdc, 21)
    return [first, await pay(other.payer, other.payee)] as const
  })
}

async function pay(payer: Agent, payee: Agent) {
  const sent = await payer.post('/wallet-custodial-transfer', { ...order, recipient: payee.alias })
  return { payer, payee, transfer_id: sent.body['transfer_id'] }
}

type Paid = Awaited<ReturnType<typeof pay>>

function look({ payer, transfer_id }: Paid) {
  return payer.post('/transfer-status', { transfer_id, include_proof: true })
}

async function viewOf(proof: Included): Promise<NodeView> {
  return (await askNode(world.chain.rpcUrl, proof)).view
}

/** Asserts that a reader who knows the chain believes no change of the proof. */
function expectTight(proof: Included, view: NodeView) {
  expect(faultsOf(proof, view)).toEqual([])
  fc.assert(
    fc.property(mutationsOf(proof), (mutated) => {
      expect(faultsOf(mutated, view), JSON.stringify(mutated)).not.toEqual([])
    }),
    { numRuns: 600 },
  )
}

test('a transfer among others is proven, and a change anywhere in its proof is noticed', async () => {
  const [one, other] = await paidInOneBlock()
  const proofs = [provenIn(await look(one)), provenIn(await look(other))] as const

  for (const [at, { payer, payee }] of [one, other].entries()) {
    expect(proofs[at]).toMatchObject({ from: payer.address, to: payee.address })
  }
  expect(proofs[0].block).toEqual(proofs[1].block)
  for (const proof of proofs) expectTight(proof, await viewOf(proof))
})

test("one payment's proof does not carry another's inclusion", async () => {
  const [one, other] = await paidInOneBlock()
  const [proof, foreign] = [provenIn(await look(one)), provenIn(await look(other))]

  const swapped = { ...proof, inclusion: foreign.inclusion }

  expect(faultsOf(swapped, await viewOf(swapped))).toEqual([
    'the log is a transfer of this amount from payer to payee',
    'the log before it uses the authorization, or there is none',
    'the transaction is in the block at its index',
  ])
})

test('an authorized transfer does not pass for one that nobody authorized', async () => {
  const [paid] = await paidInOneBlock()
  const proof = provenIn(await look(paid))

  const stripped = { ...proof, authorization_nonce: null, nonce_preimage: null }

  expect(faultsOf(stripped, await viewOf(proof))).toEqual([
    'the log before it uses the authorization, or there is none',
  ])
})

test('a transfer that the wallet sent itself is proven by its authorization as well', async () => {
  const { payer, payee } = await acquainted(world)
  await fund(world.chain, payer.address, { weiAmount: 10n ** 18n })
  await world.db.sql`update private.gas_payers set paused_for = 'a test'`
  const paid = await minedTogether(world.chain.rpcUrl, async () => {
    await crowd(world.chain.rpcUrl, world.chain.usdc, 4)
    return pay(payer, payee)
  })
  await world.db.sql`update private.gas_payers set paused_for = null`

  const proof = provenIn(await look(paid))

  expect(proof).toMatchObject({ nonce_preimage: textWith(String(paid.transfer_id)) })
  expectTight(proof, await viewOf(proof))
})

test('before a transfer is settled there is no proof, and a stranger is never given one', async () => {
  const { payer, payee } = await acquainted(world)
  const stranger = await world.agent('read')
  const [paid, before] = await minedTogether(world.chain.rpcUrl, async () => {
    const sent = await pay(payer, payee)
    return [sent, await look(sent)] as const
  })
  const { tx_hash } = provenIn(await look(paid))

  const asked = [{ tx_hash }, { transfer_id: paid.transfer_id }]
  const answers = await Promise.all(asked.map((body) => stranger.post('/transfer-status', body)))

  expect(before).toMatchObject({ status: 200, body: { status: 'submitted', proof: null } })
  for (const answer of answers) {
    expect(answer).toMatchObject({ status: 404, body: { error: 'payment_not_found' } })
  }
})

test('where a block cannot be rebuilt the proof says so, and the operation answers', async () => {
  const [paid] = await paidInOneBlock()
  const { fetch } = world.world
  world.world.fetch = async (input, init) => {
    const answer = await fetch(input, init)
    const text = await answer.text()
    return new Response(text.replaceAll('"mixHash"', '"sealOfAnotherKind"'), answer)
  }

  const shown = await look(paid)
  world.world.fetch = fetch

  expect(shown).toMatchObject({
    status: 200,
    body: { status: 'settled', proof: { from: paid.payer.address, inclusion: null } },
  })
  expect(world.log).toContainEqual({
    payment: paid.transfer_id,
    log: 'no inclusion proof: the answer has another shape',
  })
})
