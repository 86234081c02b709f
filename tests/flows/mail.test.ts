/** Mail between any SMTP client and an agent arrives through everything that `npm start` runs. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createTransport } from 'nodemailer'
import { afterAll, beforeAll, expect, test } from 'vitest'
import * as z from 'zod'
import { mailRead } from '../../functions/mail-read/contract.ts'
import { mailWait } from '../../functions/mail-wait/contract.ts'
import type { LocalWorld } from '../../scripts/local/local-world.ts'
import { openLocalWorld } from '../../scripts/local/world.ts'
import { judged } from '../support/mailauth.ts'

const directory = mkdtempSync(join(tmpdir(), 'aoa-mail-'))
const worldSchema = z.object({
  mail: z.object({
    smtp_url: z.url(),
    outbox_url: z.url(),
    dkim: z.object({ domains: z.array(z.string()), selector: z.string(), public_key: z.string() }),
  }),
})
const messages = z.array(
  z.object({
    subject: z.string(),
    text: z.string(),
    headers: z.record(z.string(), z.string()),
    raw: z.string(),
  }),
)
let world: LocalWorld

beforeAll(async () => {
  const { signal } = new AbortController()
  const isOnNode = process.env['HOST'] === 'node'
  world = await openLocalWorld({ port: 0, directory, isOnNode, signal, say() {} })
}, 120_000)
afterAll(async () => {
  await world.stop()
  rmSync(directory, { recursive: true, force: true })
})

async function ask(path: string, body?: object): Promise<unknown> {
  const answer = await fetch(new URL(path, world.url), {
    method: body ? 'POST' : 'GET',
    headers: { authorization: `Bearer ${world.apiKeys.pay}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  })
  return answer.json()
}

test('a mail of any SMTP client is what the agent waits for, and its answer comes back signed', async () => {
  const file = readFileSync(join(directory, 'world.json'), 'utf8')
  const { mail } = worldSchema.parse(JSON.parse(file))
  const waited = ask('/mail-wait?from=ann@people.example&subject=Angebot')
  const client = createTransport(mail.smtp_url)
  const to = `${world.owner.alias}@agents.example`
  const letter = { from: 'Ann <ann@people.example>', to, text: 'Zwölf Euro?\n' }
  await client.sendMail({ ...letter, subject: 'Something else' })
  const sent = await client.sendMail({
    ...letter,
    subject: 'Re: Angebot für Äpfel',
    inReplyTo: '<2@people.example>',
    references: ['<1@people.example>', '<2@people.example>'],
  })

  const { mail: found } = mailWait.response.parse(await waited)
  const mail_id = found?.mail_id ?? ''
  const read = mailRead.response.parse(await ask(`/mail-read?mail_id=${mail_id}`))
  const answer = await ask('/mail-send', { text: 'Elf.', reply_to_mail_id: mail_id })
  const outbox = async () => {
    const caught = await fetch(`${mail.outbox_url}/messages?to=ann@people.example`)
    return messages.parse(await caught.json())
  }

  expect(found?.from).toEqual({ address: 'ann@people.example', authenticated: false })
  expect(read.untrusted.text?.text).toBe('Zwölf Euro?\n')
  expect(answer).toMatchObject({ from: to, subject: 'Re: Angebot für Äpfel' })
  await expect.poll(async () => (await outbox()).length).toBe(1)
  const [arrived] = await outbox()
  expect([arrived?.subject, arrived?.text.trim()]).toEqual(['Re: Angebot für Äpfel', 'Elf.'])
  expect(arrived?.headers['in-reply-to']).toBe(sent.messageId)
  expect(arrived?.headers['references']?.split(/\s+/)).toEqual([
    '<1@people.example>',
    '<2@people.example>',
    sent.messageId,
  ])
  expect(await judged(arrived?.raw ?? '', mail.dkim)).toMatchObject({
    dkim: ['pass'],
    dmarc: 'pass',
  })
})
