/**
 * Kills of each process of a service while payments are under way: none is made twice, none is lost, and the
 * service is back by itself or with its next start.
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import postgres from 'postgres'
import { afterAll, beforeAll, expect, test } from 'vitest'
import * as z from 'zod'
import { withDatabase } from '../../scripts/backup/data-folder.ts'
import { type Chain, fund, startChain } from '../../scripts/local/chain.ts'
import { giveGas } from '../../scripts/local/gas.ts'
import { callRpc } from '../../scripts/local/rpc.ts'
import { usdcOf } from '../support/ledger.ts'
import { seeded } from '../support/seed.ts'
import {
  callService,
  type Run,
  register,
  serve,
  startTimeoutMilliseconds,
} from '../support/serve.ts'

const directory = mkdtempSync(join(tmpdir(), 'aoa-kills-'))
const port = 20_000 + ((process.pid + 2_500) % 10_000)
const base = `http://127.0.0.1:${port}`
const paymentsCount = 500
const lanesCount = 4
const payee = `0x${'7'.repeat(40)}`

let chain: Chain
let run: Run
let key: string

function start(): Promise<Run> {
  return serve('--port', `${port}`, '--data', directory, '--rpc', chain.rpcUrl)
}

beforeAll(async () => {
  chain = await startChain({ chainId: 84532 })
  run = await start()
  key = await register(run)
  const { body } = await callService(base, key, '/get-identity')
  const wallets = z.object({ wallets: z.tuple([z.object({ address: z.string() })]) })
  const hex = z.templateLiteral(['0x', z.string()])
  const [relayer] = /0x[0-9a-fA-F]{40}$/m.exec(run.output()) ?? []
  await fund(chain, hex.parse(wallets.parse(body).wallets[0].address), { usdcAtomic: 10_000_000n })
  await fund(chain, hex.parse(relayer), { weiAmount: 10n ** 20n })
  await withDatabase({ directory, databaseUrl: undefined }, async (url) => {
    const sql = postgres(url, { max: 1 })
    await giveGas(sql)
    await sql.end()
  })
  // A start looks at once at what relayers hold in final blocks.
  await callRpc(chain.rpcUrl, [['anvil_mine', '0x80']])
  await run.end('SIGTERM')
  run = await start()
}, 4 * startTimeoutMilliseconds)
afterAll(async () => {
  await run.end('SIGTERM')
  await chain.stop()
  rmSync(directory, { recursive: true, force: true })
})

/** Repeats one payment, as an agent does whose call was not answered, until it is settled. */
async function payThrough(nth: number): Promise<void> {
  const order = { recipient: payee, chain: 'base-sepolia', token: 'USDC', amount: '0.01' }
  const headers = { 'idempotency-key': `payment-${nth}` }
  const attempt = async (): Promise<unknown> => {
    const asked = { body: { ...order, user_confirmed: true }, headers }
    const { body } = await callService(base, key, '/wallet-custodial-transfer', asked)
    const { transfer_id } = body
    if (typeof transfer_id !== 'string') return body
    const status = { body: { transfer_id, wait_seconds: 5 } }
    return (await callService(base, key, '/transfer-status', status)).body['status']
  }
  const settled = () => attempt().catch((error: unknown) => String(error))
  await expect.poll(settled, { timeout: 100_000, interval: 200 }).toBe('settled')
}

const targets = ['custody', 'vault', 'mail-reader', 'postgres', 'all'] as const

/** Kills a process of the service; the operator starts again what does not come back by itself. */
async function kill(target: (typeof targets)[number]): Promise<void> {
  if (target === 'all') {
    await run.end('SIGKILL')
    run = await start()
    return
  }
  const pid =
    target === 'postgres'
      ? readFileSync(join(directory, 'postgres/postmaster.pid'), 'utf8').split('\n')[0]
      : execFileSync('pgrep', ['-f', `child.mjs ${target} ${directory}`]).toString()
  process.kill(Number(pid), 'SIGKILL')
}

test('payments are made once each, whichever process is killed while they are under way', async () => {
  const random = seeded()
  let next = 0
  const lane = async () => {
    while (next < paymentsCount) {
      next += 1
      await payThrough(next)
    }
  }
  const killing = async () => {
    for (const target of targets) {
      const moment = next + random.between(1, Math.floor(paymentsCount / 8))
      await expect
        .poll(() => next >= Math.min(moment, paymentsCount), { timeout: 500_000 })
        .toBe(true)
      await kill(target)
    }
  }

  await Promise.all([killing(), ...Array.from({ length: lanesCount }, lane)])

  expect(await usdcOf({ chain }, { address: payee })).toBe(BigInt(paymentsCount) * 10_000n)
})
