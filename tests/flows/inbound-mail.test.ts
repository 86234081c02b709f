import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stop as stopEsbuild } from 'esbuild'
import { createTransport } from 'nodemailer'
import { afterAll, beforeAll, expect, test } from 'vitest'
import * as z from 'zod'
import { buildFunctions } from '../../scripts/build/functions.ts'
import { readFunctions } from '../../scripts/local/functions.ts'
import { type MailCatcher, startMailCatcher } from '../../scripts/local/mail.ts'
import { startWorkers, type Workers } from '../../scripts/local/workers.ts'
import { messageOf } from '../support/inbound.ts'
import { inboundMailSecret, mailDomain, start } from '../support/world.ts'

const modules = mkdtempSync(join(tmpdir(), 'aoa-inbound-'))
const product = await start()
const { db, bindings } = product
const lines: string[] = []
let workers: Workers
let catcher: MailCatcher

beforeAll(async () => {
  const folders = ['inbound-mail', 'mail-reader', 'vault', 'mailer']
  await buildFunctions(modules, folders)
  const port = await freePort()
  const functions = (await readFunctions()).filter(({ folder }) => folders.includes(folder))
  const inbound = {
    domain: mailDomain,
    url: `http://127.0.0.1:${port}/inbound-mail`,
    secret: inboundMailSecret,
  }
  catcher = await startMailCatcher({ smtp: 0, outbox: 0 }, inbound)
  const given = { ...bindings.product, ...bindings.vault, MAIL_URL: catcher.smtpUrl }
  const log = (line: string) => lines.push(line)
  workers = await startWorkers({ functions, port, modules, bindings: given, log })
}, 120_000)

afterAll(async () => {
  await workers.stop()
  await catcher.close()
  await stopEsbuild()
  rmSync(modules, { recursive: true, force: true })
})

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = z.object({ port: z.int() }).parse(server.address())
  server.close()
  await once(server, 'close')
  return port
}

test('a mail from any SMTP client is kept, and one to nobody is refused before it is sent', async () => {
  const { alias, id } = await product.agent('read')
  const client = createTransport(catcher.smtpUrl)
  const mail = { from: 'Ann <ann@localhost>', subject: 'Hi', text: 'Your code is 482913.' }
  const forged = {
    'Authentication-Results': `mx.${mailDomain}; spf=pass smtp.mailfrom=bank.example`,
  }

  await client.sendMail({ ...mail, to: `${alias}@${mailDomain}`, headers: forged })
  const refused: unknown = await client
    .sendMail({ ...mail, to: `nobody@${mailDomain}` })
    .catch((error: unknown) => error)

  expect(refused).toMatchObject({ responseCode: 550, command: 'RCPT TO' })
  expect(String(refused)).toContain('5.1.1')
  const kept = await db.sql`
    select from_address, proven_domain, spf from private.mails where account = ${id}`
  expect(kept).toEqual([{ from_address: 'ann@localhost', proven_domain: 'localhost', spf: 'pass' }])
})

test.each([
  ['none', '', 'localhost'],
  ['of another server', 'mx.elsewhere.example; spf=pass smtp.mailfrom=bank.example', 'localhost'],
  ['of this one that the server does not know as its own', `mx.(x)${mailDomain}; none`, null],
  ['of this one that the server takes out', `mx.${mailDomain}; none`, 'localhost'],
])(
  'a mail that comes with results %s is proven to be from whom the receiving server found, unless several bear its name',
  async (_which, results, proven) => {
    const { alias, id } = await product.agent('read')
    const client = createTransport(catcher.smtpUrl)
    const headers = results === '' ? {} : { 'Authentication-Results': results }
    const mail = { from: 'ann@localhost', subject: 'Hi', text: 'Your code is 482913.', headers }

    await client.sendMail({ ...mail, to: `${alias}@${mailDomain}` })

    const kept = await db.sql`select proven_domain from private.mails where account = ${id}`
    expect(kept).toEqual([{ proven_domain: proven }])
  },
)

test('the platform’s mail handler keeps a mail, bounces one to nobody, and is tried again later', async () => {
  const { alias, id } = await product.agent('read')
  const raw = messageOf({ to: '', from: 'ann@mail.example', subject: 'Hi', text: 'Hello' })
  const send = (to: string) =>
    workers.email('inbound-mail', { from: 'ann@mail.example', to: `${to}@${mailDomain}` }, raw)

  expect(await send(alias)).toEqual({ outcome: 'ok' })
  expect(await send('nobody')).toEqual({
    outcome: 'ok',
    rejectReason: '5.1.1 There is no such mailbox here',
  })
  await db.stopGateway()
  expect(await send(alias)).toEqual({ outcome: 'exception' })

  const kept = await db.sql`select from_address from private.mails where account = ${id}`
  expect(kept).toEqual([{ from_address: 'ann@mail.example' }])
})
