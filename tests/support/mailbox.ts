/** The mailbox of an account as its agents see it, and letters that arrive from outside. */
import nodemailer from 'nodemailer'
import type * as z from 'zod'
import { mailList } from '../../functions/mail-list/contract.ts'
import { mailRead } from '../../functions/mail-read/contract.ts'
import { mailSend } from '../../functions/mail-send/contract.ts'
import { receiveMail } from '../../shared/mailbox/receive/receive.ts'
import { deliver, type Letter } from './inbound.ts'
import { type Agent, type Answer, mailDomain, type Scope, type TestWorld } from './world.ts'

type Query = Record<string, string>

export type TestMailbox = {
  agent: Agent
  address: string
  /** Delivers a mail from a stranger. */
  receive(letter?: Partial<Letter>): Promise<void>
  /** Delivers a mail with files, as a mail program builds it. */
  receiveFiles(
    letter: { subject: string; text?: string },
    files: { filename: string; content: string | Buffer; contentType?: string }[],
  ): Promise<void>
  list(query?: Query): Promise<z.output<typeof mailList.response>>
  /** Returns the newest mail. */
  newest(query?: Query): Promise<z.output<typeof mailRead.response>>
  read(mail_id: string, query?: Query): Promise<z.output<typeof mailRead.response>>
  send(order: object, headers?: Query): Promise<Answer>
  /** Sends a mail that must not be refused. */
  sent(order: object): Promise<z.output<typeof mailSend.response>>
}

/** Opens an account with a mailbox. */
export async function openMailbox(product: TestWorld, scope: Scope = 'pay'): Promise<TestMailbox> {
  const agent = await product.agent(scope)
  return mailboxOf(product, agent)
}

/** Returns the mailbox as another key of the account sees it. */
export function mailboxOf({ world }: Pick<TestWorld, 'world'>, agent: Agent): TestMailbox {
  const address = `${agent.alias}@${mailDomain}`
  const given = { to: address, from: 'Ann <ann@people.example>', subject: 'Hello', text: 'A word.' }
  const get = async (path: string, query: Query = {}) => {
    const { body } = await agent.get(`${path}?${new URLSearchParams(query).toString()}`)
    return body
  }
  const read: TestMailbox['read'] = async (mail_id, query) =>
    mailRead.response.parse(await get('/mail-read', { ...query, mail_id }))
  const list: TestMailbox['list'] = async (query) =>
    mailList.response.parse(await get('/mail-list', query))
  const send: TestMailbox['send'] = (order, headers) => agent.post('/mail-send', order, headers)
  return {
    agent,
    address,
    list,
    read,
    send,
    receive: (letter) => deliver(world, { ...given, ...letter }),
    async receiveFiles(letter, attachments) {
      const composer = nodemailer.createTransport({ streamTransport: true, buffer: true })
      const mail = { ...given, ...letter, attachments }
      const { message } = await composer.sendMail(mail)
      const raw = new Uint8Array(Buffer.isBuffer(message) ? message : [])
      await receiveMail(world, { envelopeFrom: 'ann@people.example', envelopeTo: address, raw })
    },
    async newest(query) {
      const { mails } = await list({ limit: '1', ...query })
      return read(mails[0]?.mail_id ?? '')
    },
    sent: async (order) => mailSend.response.parse((await send(order)).body),
  }
}
