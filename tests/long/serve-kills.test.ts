/**
 * Kills of each process of a service while payments and mails are under way: none is made or kept twice, none is
 * lost, and the service is back within 15 seconds, by itself or with its next start.
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createTransport } from 'nodemailer'
import postgres from 'postgres'
import { afterAll, beforeAll, expect, test } from 'vitest'
import * as z from 'zod'
import { withDatabase } from '../../scripts/backup/data-folder.ts'
import { giveGas } from '../../scripts/local/chain/fund.ts'
import { callRpc } from '../../scripts/local/chain/rpc.ts'
import { type Chain, fund, startChain } from '../../scripts/local/chain.ts'
import { invite } from '../../scripts/serve/owner.ts'
import { usdcOf } from '../support/ledger.ts'
import { seeded } from '../support/seed.ts'
import {
  callService,
  type Run,
  register,
  registerBy,
  serve,
  startTimeoutMilliseconds,
} from '../support/serve.ts'

const directory = mkdtempSync(join(tmpdir(), 'aoa-kills-'))
const port = 20_000 + ((process.pid + 2_500) % 10_000)
const base = `http://127.0.0.1:${port}`
const paymentsCount = 500
const mailsCount = 200
const workersCount = 4
const backMilliseconds = 15_000
const payee = `0x${'7'.repeat(40)}`

let chain: Chain
let run: Run
let key: string

function start(): Promise<Run> {
  const smtp = ['--smtp-port', `${port + 1}`]
  return serve('--port', `${port}`, '--data', directory, '--rpc', chain.rpcUrl, ...smtp)
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
    const link = await invite(sql, 'ann@people.example')
    await registerBy(`http://localhost:${port}/web/register/${link}`, 'swift')
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

function order(nth: number | string, wish = 0) {
  const headers = { 'idempotency-key': `payment-${nth}-${wish}` }
  const terms = { recipient: payee, chain: 'base-sepolia', token: 'USDC', amount: '0.01' }
  const body = { ...terms, user_confirmed: true }
  return callService(base, key, '/wallet-custodial-transfer', { body, headers })
}

/**
 * Repeats one payment, as an agent does whose call was not answered, until it is settled. One that custody did not
 * live to sign ends as released, which says for good that nothing was paid, so it is wished for anew.
 */
async function payThrough(nth: number | string): Promise<void> {
  let wish = 0
  const attempt = async (): Promise<unknown> => {
    const { body } = await order(nth, wish)
    const { transfer_id } = body
    if (typeof transfer_id !== 'string') return body
    const status = { body: { transfer_id, wait_seconds: 5 } }
    const { status: state } = (await callService(base, key, '/transfer-status', status)).body
    if (state === 'released') wish += 1
    return state
  }
  const settled = () => attempt().catch((error: unknown) => String(error))
  await expect.poll(settled, { timeout: 100_000, interval: 200 }).toBe('settled')
}

/** Sends one mail again and again, as a mail server does whose mail was not taken, until it is. */
async function sendThrough(nth: number): Promise<void> {
  // One mailbox takes 120 mails at once, and then one in 30 seconds.
  const to = `${nth % 2 === 0 ? 'kestrel' : 'swift'}@agents.localhost`
  const from = `ann-${nth}@people.invalid`
  const head = `From: ${from}\r\nTo: ${to}\r\nMessage-ID: <${nth}@people.invalid>`
  const raw = `${head}\r\nSubject: ${nth}\r\n\r\nHello\r\n`
  const isTaken = () =>
    createTransport({ host: '127.0.0.1', port: port + 1 })
      .sendMail({ envelope: { from, to }, raw })
      .then(() => true, String)
  await expect.poll(isTaken, { timeout: 300_000, interval: 1_000 }).toBe(true)
}

/** Needs custody, the vault and the database; the mail reader is needed by mails, which have a limit by the minute. */
async function isBack(target: string): Promise<unknown> {
  const entry = { body: { site: 'example.com', username: target } }
  const asked = [order(target), callService(base, key, '/vault-generate', entry)]
  return (await Promise.all(asked)).map(({ status }) => status)
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

/** Works through numbers 1 to `count`, some at once. Returns the highest number that was begun. */
function work(count: number, through: (nth: number) => Promise<void>) {
  let next = 0
  const worker = async () => {
    while (next < count) {
      next += 1
      await through(next)
    }
  }
  const done = Promise.all(Array.from({ length: workersCount }, worker))
  return { done, begun: () => next }
}

async function keptMails(): Promise<unknown> {
  return withDatabase({ directory, databaseUrl: undefined }, async (url) => {
    const sql = postgres(url, { max: 1 })
    const [row] = await sql`
      select count(*)::int as kept, count(distinct from_address)::int as different from private.mails`
    await sql.end()
    return row
  })
}

test('payments are made and mails are kept once each, whichever process is killed meanwhile', async () => {
  const random = seeded()
  const payments = work(paymentsCount, payThrough)
  const mails = work(mailsCount, sendThrough)
  const killing = async () => {
    for (const target of targets) {
      const moment = payments.begun() + random.between(1, Math.floor(paymentsCount / 8))
      const isTime = () => payments.begun() >= Math.min(moment, paymentsCount)
      await expect.poll(isTime, { timeout: 500_000 }).toBe(true)
      const killed = performance.now()
      await kill(target)
      const back = { timeout: backMilliseconds, interval: 100 }
      await expect.poll(() => isBack(target).catch(String), back).toEqual([200, 200])
      expect(performance.now() - killed, target).toBeLessThan(backMilliseconds)
    }
  }

  await Promise.all([killing(), payments.done, mails.done])
  for (const target of targets) await payThrough(target)

  const made = BigInt(paymentsCount + targets.length)
  expect(await usdcOf({ chain }, { address: payee })).toBe(made * 10_000n)
  expect(await keptMails()).toEqual({ kept: mailsCount, different: mailsCount })
})
