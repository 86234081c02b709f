/** One endpoint with wrong transaction counts, beside an honest one, misleads no relayer or wallet. */
import { beforeEach, expect, test } from 'vitest'
import { fund } from '../../../scripts/local/chain.ts'
import { runHousekeeping } from '../../../shared/payments/settle/housekeeping.ts'
import { elapse, node, pass, stopMining } from '../../support/faults/chain.ts'
import { counting, type Liar, silent, startLiar } from '../../support/faults/liar.ts'
import { onePair, outcomeOf, paidOnce, transfer } from '../../support/faults/pair.ts'
import { ledgerEqualsChain, settleAll } from '../../support/faults/settle.ts'
import { usdcOf } from '../../support/ledger.ts'
import { start, type TestWorld } from '../../support/world.ts'

let liar: Liar
let world: TestWorld
beforeEach(async () => {
  world = await start({
    chain: true,
    gasPayers: 1,
    endpoints: async (nodeUrl) => {
      liar = await startLiar(nodeUrl)
      const honest = await startLiar(nodeUrl)
      return [liar.url, honest.url]
    },
  })
})

type GasPayer = { address: string; next: number; paused: string | null }

async function gasPayerOf(kind: 'relayer' | 'wallet'): Promise<GasPayer> {
  const [gasPayer] = await world.db.sql<GasPayer[]>`
    select address, next_nonce::integer as next, paused_for as paused from private.gas_payers
     where kind = ${kind}`
  if (!gasPayer) throw new Error(`there is no ${kind}`)
  return gasPayer
}

const slots = () => world.db.sql<{ nonce: number; state: string }[]>`
  select nonce::integer as nonce, state from private.relay_slots order by nonce`

const minedOf = async (address: string) =>
  Number(await node(world, 'eth_getTransactionCount', address, 'latest'))

const alarms = () => world.log.map((line) => line['alarm']).filter((alarm) => alarm !== undefined)

test('a count that one endpoint invents makes no relayer fill slots', async () => {
  const pair = await onePair(world)

  liar.tell(counting(40))
  await runHousekeeping(world.world)
  await transfer(world.worker(), pair)
  await runHousekeeping(world.world)
  const told = alarms()
  liar.tell()
  await settleAll(world)

  const { address, next } = await gasPayerOf('relayer')
  expect([next, await minedOf(address)]).toEqual([1, 1])
  expect(await slots()).toEqual([{ nonce: 0, state: 'final' }])
  expect(told).toContain('endpoints_disagree')
  expect(await outcomeOf(world, pair)).toBe(paidOnce)
  await ledgerEqualsChain(world)
})

test('a count that one endpoint invents gives no call back as lost', async () => {
  const pair = await onePair(world)
  await stopMining(world)
  await transfer(world.worker(), pair)

  liar.tell(counting(40))
  await runHousekeeping(world.world)
  const during = await slots()
  liar.tell()
  await node(world, 'evm_setAutomine', true)
  await settleAll(world)

  expect(during).toEqual([{ nonce: 0, state: 'open' }])
  expect(await outcomeOf(world, pair)).toBe(paidOnce)
})

test('a wallet that pays its own gas pays once, whatever next number one endpoint names', async () => {
  await world.db.sql`update private.gas_payers set paused_for = 'a test' where kind = 'relayer'`
  const pair = await onePair(world)
  await fund(world.chain, pair.payer.address, { weiAmount: 10n ** 18n })

  liar.tell(counting(12))
  await transfer(world.worker(), pair)
  liar.tell()
  await settleAll(world)

  const { address, next } = await gasPayerOf('wallet')
  expect(await minedOf(address)).toBe(next)
  expect(await outcomeOf(world, pair)).toBe(paidOnce)
})

test('a count that both endpoints show is followed', async () => {
  const pair = await onePair(world)
  const { address } = await gasPayerOf('relayer')
  await node(world, 'anvil_setNonce', address, '0x5')

  await runHousekeeping(world.world)
  await transfer(world.worker(), pair)
  await settleAll(world)

  expect(await slots()).toEqual([{ nonce: 5, state: 'final' }])
  expect(await outcomeOf(world, pair)).toBe(paidOnce)
})

test('a gap of more than 16 slots is filled by nobody, and its gas payer is taken out of service', async () => {
  await world.db.sql`update private.gas_payers set next_nonce = 40, mined_nonce = 40`
  const pair = await onePair(world)
  await stopMining(world)
  await transfer(world.worker(), pair)

  await runHousekeeping(world.world)
  await runHousekeeping(world.world)

  const gasPayer = await gasPayerOf('relayer')
  expect(await slots()).toEqual([{ nonce: 40, state: 'open' }])
  expect(gasPayer).toMatchObject({ next: 41, paused: 'nonce_gap' })
  expect(alarms()).toContain('nonce_gap')
})

test.each([
  ['says nothing', silent()],
  ['counts too few', counting(-1_000)],
  ['counts too many', counting(1_000)],
])('relayers go on for as long as one of two endpoints %s', async (_, lie) => {
  const pair = await onePair(world)
  liar.tell(lie)

  const answers = []
  for (let sent = 0; sent < 20; sent += 1) {
    answers.push(await transfer(world.worker(), pair))
    if (sent % 5 === 4) await runHousekeeping(world.world)
  }
  liar.tell()
  await elapse(world, 5)
  await pass(world, 60)
  await settleAll(world)

  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
  const { address, next } = await gasPayerOf('relayer')
  expect(await minedOf(address)).toBe(next)
  expect(await usdcOf(world, pair.payee)).toBe(200_000_000n)
  await ledgerEqualsChain(world)
})
