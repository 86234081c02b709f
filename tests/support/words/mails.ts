/** Incoming mails, and servers that refuse outgoing ones. */
import { createServer } from 'node:net'
import * as z from 'zod'
import { deliverMail } from '../../../shared/mail/deliver.ts'
import { transportOf } from '../../../shared/mail/transport.ts'
import { signedIn } from '../browserless.ts'
import { atEnd } from '../ending.ts'
import { byPlatform, messageOf } from '../inbound.ts'
import { connect } from '../mail.ts'
import type { Market } from '../market.ts'
import { toolsIn } from '../mcp.ts'
import { openPerson } from '../person.ts'
import { mailDomain } from '../world.ts'
import { holdPage } from './heard.ts'
import { callersOf, type Source } from './source.ts'

/** Encodes a text for a header, no longer than all headers of a mail together may be. */
const encoded = (text: string, lengthMax = 12_000) =>
  `=?utf-8?b?${Buffer.from(text.slice(0, lengthMax)).toString('base64')}?=`
/** Encodes a text for the name of an author, whose field may have 2 KB. */
const named = (text: string) => encoded(text, 480)

/** Opens a source of incoming mails that contain the words in every part. */
export async function inboundMails(market: Market): Promise<Source> {
  const { agent } = await openPerson(market)
  const browser = await signedIn(market, agent)
  const callerOf = callersOf(toolsIn(market.world))
  return {
    name: 'a mail',
    share: 18,
    meets: ['read', 'file'],
    async say(said, pick) {
      await market.db.sql`delete from private.rate_buckets`
      await market.db.sql`delete from private.mails where account = ${agent.id}`
      const to = `${agent.alias}@${mailDomain}`
      const raw = pick(lettered, filed)(to, said)
      const outcome = await byPlatform(market.world, { to, raw })
      if (!('taken' in outcome)) throw new Error(JSON.stringify(outcome))

      const call = callerOf(pick)
      const listed = await call(agent, 'mail_list', { limit: 1 })
      await call(agent, 'wallet_activity_list', { category: 'mail', limit: 1 })
      const [mail] = listed.body['mails'] as { mail_id: string; attachment_count: number }[]
      const { mail_id = '', attachment_count: files = 0 } = mail ?? {}
      await call(agent, 'mail_read', { mail_id })
      if (files > 0) await call(agent, 'mail_read', { mail_id, attachment: 1 })
      holdPage(await browser.visit(pick('/web/mail', `/web/mail/${mail_id}`, '/web/activity')))
      return files > 0 ? 'file' : 'read'
    },
  }
}

function lettered(to: string, said: string): string {
  return messageOf({
    to,
    from: `${named(said)} <a@mail.example>`,
    subject: said.slice(0, 12_000),
    text: said,
    html: `<p title="x">${said}</p>`,
    headers: {
      'Reply-To': `${encoded(said, 2_000)} <b@mail.example>`,
      Cc: `${encoded(said)} <c@mail.example>`,
      Date: encoded(said.slice(0, 60)),
      References: `<${said.replaceAll(/[^\w-]/g, '').slice(0, 500)}@mail.example>`,
      'List-Unsubscribe': '<https://e.vil/>',
    },
  })
}

function filed(to: string, said: string): string {
  const name = Buffer.from(said.slice(0, 2_000)).toString('base64')
  const type = said.length % 2 === 0 ? 'text/plain' : 'application/x-hint; name="e.vil"'
  return [
    `From: ${named(said)} <a@mail.example>`,
    `To: ${to}`,
    `Subject: ${encoded(said)}`,
    'Content-Type: multipart/mixed; boundary=b',
    '',
    '--b',
    `Content-Type: ${type}`,
    `Content-Disposition: attachment; filename="=?utf-8?b?${name}?="`,
    'Content-Transfer-Encoding: base64',
    '',
    Buffer.from(said).toString('base64'),
    '--b--',
  ].join('\r\n')
}

/** Opens a mail server that refuses a mail with its own words. */
export async function refusingServer(market: Market): Promise<Source> {
  const { agent } = await openPerson(market)
  const browser = await signedIn(market, agent)
  const callerOf = callersOf(toolsIn(market.world))
  let reply = ''
  const url = await smtpThat(() => reply)
  const world = { ...market.world, config: { ...market.world.config, MAIL_URL: url } }
  return {
    name: 'a mail server that refuses',
    share: 4,
    meets: ['failed'],
    async say(said, pick) {
      await market.db.sql`delete from private.rate_buckets`
      await market.db.sql`delete from private.mails where account = ${agent.id}`
      const call = callerOf(pick)
      const order = { to: ['ann@people.example'], subject: 'Hello', text: 'A word.' }
      await call(agent, 'mail_send', order)
      reply = `550 ${said.replaceAll(/[\r\n]+/g, ' ').slice(0, 12_000)}`
      await deliverMail(world, transportOf(world, connect))
      const listed = await call(agent, 'mail_list', { limit: 1, direction: 'out' })
      const [mail] = listed.body['mails'] as { mail_id: string; deliveries: { status: string }[] }[]
      const { mail_id = '', deliveries = [] } = mail ?? {}
      await call(agent, 'mail_read', { mail_id })
      await call(agent, 'wallet_activity_list', { category: 'mail', limit: 2 })
      holdPage(await browser.visit(pick(`/web/mail/${mail_id}`, '/web/activity')))
      return deliveries[0]?.status
    },
  }
}

/** Starts an SMTP server that answers every RCPT with a refusal and accepts everything else. */
async function smtpThat(refusal: () => string): Promise<string> {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.write('220 ready\r\n')
    socket.on('data', (line) =>
      socket.write(`${line.toString().startsWith('RCPT') ? refusal() : '250 ok'}\r\n`),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  atEnd(() => void server.close())
  const { port } = z.object({ port: z.int() }).parse(server.address())
  return `smtp://127.0.0.1:${port}`
}
