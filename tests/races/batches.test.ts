import { expect, test } from 'vitest'
import { callRpc, transact } from '../../scripts/local/chain/rpc.ts'
import { resolveAll, settledAsOnChain } from '../support/books.ts'
import { inForm } from '../support/cases.ts'
import { newKey, transfer } from '../support/chain-world.ts'
import { askedFor, posting } from '../support/held.ts'
import { acquainted, statesOf, usdcOf } from '../support/ledger.ts'
import { seeded } from '../support/seed.ts'
import { anew } from '../support/wish.ts'
import { finalize, start, type TestWorld } from '../support/world.ts'

const path = '/wallet-custodial-transfer'
const order = { chain: 'base-sepolia', token: 'USDC', amount: '1' }

let world: TestWorld

/** Returns the calls in each transaction, in the order of signing, and the calls that wait. */
async function relayed() {
  const rows = await world.db.sql<{ slot: string | null; calls: number }[]>`
    select slot, count(*)::int as calls from private.relay_calls group by slot order by slot`
  const queued = rows.find(({ slot }) => slot === null)?.calls ?? 0
  return { batches: rows.flatMap(({ slot, calls }) => (slot === null ? [] : [calls])), queued }
}

/** Leases every gas payer for 60 seconds, as if its holder were busy or dead. */
async function holdGasPayers() {
  await world.db.sql`update private.gas_payers
    set lease = gen_random_uuid(), leased_until = private.clock() + interval '60 seconds'`
}

test('many transfers at once ride at most 25 in one transaction, and none is left behind', async () => {
  world = await start({ chain: true, gasPayers: 4 })
  const [one, other] = [await acquainted(world), await acquainted(world)]
  const each = inForm(30, 100)

  const send = async (at: number) => {
    const { payer, payee } = at % 2 === 0 ? one : other
    const body = { ...order, recipient: payee.alias }
    const answer = await payer.post(path, body, { 'idempotency-key': `at-once-${at}` })
    return answer.status === 200 ? [] : [at]
  }
  let waiting = Array.from({ length: 2 * each }, (_, at) => at)
  while (waiting.length > 0) {
    waiting = (await Promise.all(waiting.map(send))).flat()
    // On a slow machine some requests time out; their keys are free for a retry after this.
    if (waiting.length > 0) await world.tick(61)
  }

  await expect.poll(async () => (await relayed()).queued).toBe(0)
  const { batches } = await relayed()
  expect(Math.max(...batches)).toBeLessThanOrEqual(25)
  await resolveAll(world)
  for (const { payer, payee } of [one, other]) {
    expect(await settledAsOnChain(world, payer)).toHaveLength(each)
    expect(await usdcOf(world, payee)).toBe(BigInt(each) * 1_000_000n)
  }
}, 120_000)

test('whoever is next takes all that waited for a relayer into one transaction', async () => {
  world = await start({ chain: true })
  const { payer, payee } = await acquainted(world)
  const send = () => payer.post(path, anew({ ...order, recipient: payee.alias }))
  await holdGasPayers()

  const waiting = await Promise.all(Array.from({ length: 30 }, send))
  const before = await relayed()
  await world.tick(61)
  await send()

  expect(waiting.filter(({ body }) => body['status'] !== 'submitted')).toEqual([])
  expect(before).toEqual({ batches: [], queued: 30 })
  await expect.poll(relayed).toEqual({ batches: [25, 6], queued: 0 })
  await expect.poll(() => usdcOf(world, payee)).toBe(31_000_000n)
})

test('a transfer that was signed is answered with its id, though what waits cannot be relayed', async () => {
  world = await start({ chain: true })
  const [first, other] = [await acquainted(world), await acquainted(world)]
  const orderOf = ({ payee }: typeof first) => ({ ...order, recipient: payee.alias })
  const asked: string[] = []
  const worker = world.worker({
    fetch: async (input, init) => {
      const name = askedFor(input, init)
      asked.push(name)
      // Another transfer is queued while this one has the only relayer.
      if (name === 'custody_record') await other.payer.post(path, orderOf(other))
      if (name === 'custody_claim') throw new TypeError('the connection was lost')
      return fetch(input, init)
    },
  })

  const sent = await worker.post(first.payer, path, orderOf(first))
  await resolveAll(world)

  expect(asked).toContain('custody_claim')
  expect(sent).toMatchObject({ status: 200, body: { status: 'submitted' } })
  expect(await settledAsOnChain(world, first.payer)).toEqual([sent.body['transfer_id']])
  expect(await usdcOf(world, first.payee)).toBe(1_000_000n)
})

test('bursts with any timing end with an empty queue, without housekeeping', async () => {
  world = await start({ chain: true, gasPayers: 2 })
  const random = seeded()
  const { payer, payee } = await acquainted(world)
  const post = posting(world, {
    fetch: async (input, init) => {
      for (let turns = random.between(0, 300); turns > 0; turns -= 1) {
        await new Promise((resolve) => setImmediate(resolve))
      }
      return fetch(input, init)
    },
  })
  const send = () => post(payer, path, anew({ ...order, amount: '0.1', recipient: payee.alias }))
  const rounds = inForm(5, 20)

  for (let round = 0; round < rounds; round += 1) {
    await Promise.all(Array.from({ length: random.between(2, 12) }, send))
    await expect.poll(async () => (await relayed()).queued).toBe(0)
  }
})

test('a gas payer has at most 16 transactions that are not mined, and what comes then waits', async () => {
  world = await start({ chain: true })
  const { payer, payee } = await acquainted(world)
  const send = () => payer.post(path, anew({ ...order, recipient: payee.alias }))
  await callRpc(world.chain.rpcUrl, [['evm_setAutomine', false]])

  for (let at = 0; at < 20; at += 1) await send()
  const unmined = await relayed()
  await callRpc(world.chain.rpcUrl, [['evm_mine']])
  await callRpc(world.chain.rpcUrl, [['evm_setAutomine', true]])
  await send()

  expect(unmined).toEqual({ batches: Array.from({ length: 16 }, () => 1), queued: 4 })
  expect((await relayed()).batches.slice(16)).toEqual([5])
  await expect.poll(() => usdcOf(world, payee)).toBe(21_000_000n)
})

test('a payer who can no longer pay holds up none of those in the same transaction', async () => {
  world = await start({ chain: true })
  const [first, broke, last] = [
    await acquainted(world),
    await acquainted(world),
    await acquainted(world),
  ]
  await holdGasPayers()
  for (const { payer, payee } of [first, broke, last]) {
    await payer.post(path, { ...order, recipient: payee.alias })
  }
  const { rpcUrl, usdc } = world.chain
  await callRpc(rpcUrl, [['anvil_impersonateAccount', broke.payer.address]])
  await callRpc(rpcUrl, [['anvil_setBalance', broke.payer.address, '0xde0b6b3a7640000']])
  await transact(rpcUrl, broke.payer.address, usdc, transfer(newKey().at, 1_000_000_000n))
  await world.tick(61)

  await first.payer.post(path, anew({ ...order, recipient: first.payee.alias }))

  expect(await relayed()).toEqual({ batches: [4], queued: 0 })
  await expect.poll(() => usdcOf(world, first.payee)).toBe(2_000_000n)
  expect(await usdcOf(world, last.payee)).toBe(1_000_000n)
  await callRpc(rpcUrl, [['evm_increaseTime', 1_600]])
  await world.tick(1_600)
  await finalize(world.chain)
  await resolveAll(world)
  expect(await statesOf(world, broke.payer)).toEqual(['released'])
  expect(await statesOf(world, last.payer)).toEqual(['settled'])
})
