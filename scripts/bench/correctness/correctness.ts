/**
 * Ten thousand transfers on a bad day: answers to broadcasts are lost, workers die at any step, and the
 * chain takes blocks back. In the end, the database is compared with the logs of the chain. A plain
 * script that retries uses the same endpoint.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { walletCustodialTransfer } from '../../../functions/wallet-custodial-transfer/contract.ts'
import { run as runTransfer } from '../../../functions/wallet-custodial-transfer/handler.ts'
import { edgeFunction } from '../../../shared/http/edge.ts'
import { runHousekeeping } from '../../../shared/payments/settle/housekeeping.ts'
import { callRpc } from '../../local/chain/rpc.ts'
import { startRpcProxy } from '../../local/chain/rpc-proxy.ts'
import { fractions } from '../../local/random.ts'
import type { Figure } from '../report.ts'
import { freshPayee, inParallel, nonceManagerArm } from '../runtimes.ts'
import { type BenchWorld, watchPayees } from '../world.ts'
import { inProcess, mortal, reorganize } from './bad-day.ts'
import { compare } from './books.ts'

const clients = 25
const plainTransfers = 500
const lostShare = 0.15
const roundsMax = 2_000

/** Counts duplicates, failures of paid transfers, and differences between database and chain. */
export async function benchCorrectness(world: BenchWorld, transfers: number): Promise<Figure[]> {
  const lossy = { kind: 'lose' as const, methods: ['eth_sendRawTransaction'], share: lostShare }
  const proxy = await startRpcProxy({ nodeUrl: world.chain.rpcUrl, seed: 7, rules: [lossy] })
  const ending = new AbortController()
  try {
    const random = fractions(11)
    const rpcUrl = proxy.url
    await moveClock(world, 0)
    const keys = await Promise.all(Array.from({ length: 10 }, async () => world.payer()))
    const payees = Array.from({ length: transfers }, freshPayee)
    const disturbing = [
      reorganize(world, random, ending.signal),
      keepOn(world, rpcUrl, ending.signal),
    ]
    await inParallel(transfers, clients, async (at) => {
      await sendOnce(world, rpcUrl, random, keys[at % keys.length]?.key ?? '', payees[at] ?? '0x')
      if (at % 1_000 === 999) console.error(`    ${at + 1} of ${transfers} transfers sent`)
    })
    ending.abort()
    await Promise.all(disturbing)
    const isOver = await finish(world)
    const books = await compare(world, new Set(payees.map((payee) => payee.toLowerCase())))
    const plain = await plainDuplicates(world, rpcUrl)
    const detail = {
      ...books,
      'left open': isOver,
      'answers lost': proxy.faults.lose,
      'duplicates of a plain script that retries': plain,
      'transfers of the plain script': plainTransfers,
    }
    const named = (name: string, value: number): Figure => ({ name, value, target: 0, detail })
    return [
      named(`duplicates in ${transfers} faulted transfers`, books['paid twice']),
      named('failures without an anchor', books['failed though paid']),
      named('differences between database and chain', books.differences + isOver),
    ]
  } finally {
    ending.abort()
    await proxy.close()
  }
}

/** Sends one request to a worker of its own, which may die before or after any of its steps. */
async function sendOnce(
  bench: BenchWorld,
  rpcUrl: string,
  random: () => number,
  key: string,
  payee: string,
): Promise<void> {
  const fetch = mortal(random)
  const serve = edgeFunction(walletCustodialTransfer, runTransfer, () =>
    inProcess(bench, rpcUrl, fetch),
  )
  const terms = { chain: 'base-sepolia', token: 'USDC', amount: '0.01', memo: String(random()) }
  const order = { recipient: payee, ...terms }
  const request = new Request('http://bench/wallet-custodial-transfer', {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ...order, user_confirmed: true }),
  })
  await serve.fetch(request)
}

async function keepOn(world: BenchWorld, rpcUrl: string, end: AbortSignal) {
  const product = inProcess(world, rpcUrl, globalThis.fetch)
  while (!end.aborted) {
    await runHousekeeping(product).catch(() => undefined)
    await pause(500)
  }
}

/** Runs housekeeping until nothing is open. In round 40, both clocks move past every authorization. */
async function finish(world: BenchWorld): Promise<number> {
  const product = inProcess(world, world.chain.rpcUrl, globalThis.fetch)
  for (let round = 0; round < roundsMax; round += 1) {
    await runHousekeeping(product)
    await callRpc(world.chain.rpcUrl, [['anvil_mine', '0x2']])
    if (round === 40) {
      await callRpc(world.chain.rpcUrl, [['evm_increaseTime', 1_200]])
      await moveClock(world, 1_200)
    }
    if (round > 40 && (await openPayments(world)) === 0) return 0
  }
  return openPayments(world)
}

async function openPayments({ sql }: BenchWorld): Promise<number> {
  const rows = await sql`select 1 from private.payments
    where state in ('authorized', 'signed', 'unknown') or finality in ('included', 'safe')`
  return rows.length
}

/** Counts the duplicates of a script that sends again when it gets no answer. */
async function plainDuplicates(world: BenchWorld, rpcUrl: string): Promise<number> {
  const arm = await nonceManagerArm(world, rpcUrl)
  const watch = await watchPayees(world)
  await inParallel(plainTransfers, 5, async () => {
    const payee = freshPayee()
    for (let tries = 0; tries < 4; tries += 1) {
      const isSent = await arm(payee).then(
        () => true,
        () => false,
      )
      if (isSent) return
    }
  })
  await pause(3_000)
  await watch.look()
  return [...watch.seen.values()].filter(({ times }) => times > 1).length
}

/** Sets the database's clock, which every SQL rule reads, this many seconds ahead. */
async function moveClock({ sql }: BenchWorld, seconds: number): Promise<void> {
  await sql.unsafe(`create or replace function private.clock() returns timestamptz
    language sql stable as
    'select pg_catalog.clock_timestamp() + interval ''${Number(seconds)} seconds'''`)
}
