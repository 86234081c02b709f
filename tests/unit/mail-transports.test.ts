import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { SMTPServer } from 'smtp-server'
import { afterEach, expect, test } from 'vitest'
import * as z from 'zod'
import { startMailCatcher } from '../../scripts/local/mail.ts'
import { listen } from '../../scripts/local/process/listen.ts'
import { readConfig } from '../../shared/env.ts'
import { isAddress, senderAddress } from '../../shared/mail/address.ts'
import { mimeMessage } from '../../shared/mail/mime.ts'
import type { Outgoing } from '../../shared/mail/port.ts'
import { smtpTransport } from '../../shared/mail/smtp.ts'
import { httpTransport, transportOf } from '../../shared/mail/transport.ts'
import { connect } from '../support/mail.ts'

const endings: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of endings.splice(0)) await end()
})

const mail: Outgoing = {
  id: '0b5f7a9e-8c1d-4f1e-9a53-0123456789ab',
  from: 'Account <no-reply@agents.example>',
  to: 'ann@people.example',
  subject: 'Your code',
  text: '.\r\n.. a line that begins with dots\r\n.\r\nQUIT\r\nкод ✓\n',
  html: `<p>${'long '.repeat(400)}</p>`,
  createdAt: new Date('2026-11-21T12:00:00Z'),
}

const bound = z.object({ port: z.int() })

/** Starts a server that answers each line it gets with the next of these, and then runs `end`. */
async function speaking(lines: readonly string[], end: (socket: Socket) => void) {
  const open = new Set<Socket>()
  const server = createServer((socket) => {
    open.add(socket)
    const rest = [...lines]
    const next = () => {
      const line = rest.shift()
      if (line === undefined) end(socket)
      else socket.write(`${line}\r\n`)
    }
    socket.on('data', next)
    socket.on('error', () => {})
    next()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  endings.push(async () => {
    for (const socket of open) socket.destroy()
    await once(server.close(), 'close')
  })
  return `smtp://127.0.0.1:${bound.parse(server.address()).port}`
}

const never = () => new AbortController().signal

function sending(server: string, deadline = never) {
  const domain = 'agents.example'
  return smtpTransport({ connect, server: new URL(server), password: 'p', domain, deadline })
}

test('SMTP carries any text unchanged, dots and all', async () => {
  const catcher = await startMailCatcher()
  endings.push(() => catcher.close())

  expect(await sending(catcher.smtpUrl)({ ...mail, subject: 'Оплата €5 ✓'.repeat(9) })).toBe(
    undefined,
  )

  const [caught, ...others] = catcher.caught()
  expect(others).toEqual([])
  expect(caught).toMatchObject({ to: [mail.to], subject: 'Оплата €5 ✓'.repeat(9) })
  expect(caught?.text.replaceAll('\r', '')).toBe(mail.text.replaceAll('\r', ''))
  expect(caught?.html.trim()).toBe(mail.html)
})

test('no line of a message is longer than SMTP allows or begins with a dot', () => {
  const lines = mimeMessage({ ...mail, subject: '✓'.repeat(200) }, 'agents.example').split('\r\n')

  expect(lines.filter((line) => line.length > 998 || line.startsWith('.'))).toEqual([])
  expect(lines.filter((line) => /[^ -~]/.test(line))).toEqual([])
})

test('nothing that is written into a header becomes another one', () => {
  for (const evil of ['a\r\nBcc: eve@evil.example', 'a\nBcc: eve@evil.example', 'a\rBcc: x', 'ü']) {
    expect(() => mimeMessage({ ...mail, to: evil }, 'agents.example')).toThrow('one header')
  }
  const subject = mimeMessage({ ...mail, subject: 'a\r\nBcc: eve@evil.example' }, 'agents.example')
  expect(subject.split('\r\n\r\n')[0]).not.toMatch(/^bcc/im)
})

test('an address is one address', () => {
  const evil = ['a@b.example,c@d.example', 'a b@c.example', 'a@b.example>', '"a"@b.example', 'a@']
  const lines = [
    'a@b.example\r\nDATA',
    'a@b.example\n',
    ' a@b.example',
    `${'a'.repeat(250)}@b.example`,
  ]

  expect([...evil, ...lines].filter(isAddress)).toEqual([])
  expect(['ann@people.example', "o'neil+tag@sub.people.example"].every(isAddress)).toBe(true)
  expect(senderAddress('Account <no-reply@agents.example>')).toBe('no-reply@agents.example')
  expect(() => senderAddress('A\r\nB <a@b.example>')).toThrow('no address')
})

test('an unknown mailbox is refused for good, a server that is busy is not', async () => {
  const unknown = ['220 x', '250 x', '250 x', '550 5.1.1 unknown']
  const busy = ['220 x', '250-x\r\n250 SIZE 1', '250 x', '451 4.7.1 later']
  const closed = ['421 too many connections']

  const answers = []
  for (const lines of [unknown, busy, closed]) {
    answers.push(await sending(await speaking(lines, (socket) => socket.end()))(mail))
  }

  expect(answers).toEqual([
    { reason: '550 5.1.1 unknown', forGood: true, outage: false },
    { reason: '451 4.7.1 later', forGood: false, outage: false },
    { reason: '421 too many connections', forGood: false, outage: true },
  ])
})

test('a server that closes the connection or falls silent ends the try', async () => {
  const closing = await speaking(['220 x', '250 x'], (socket) => socket.end())
  const passing = new AbortController()
  const silent = await speaking(['220 x', '250 x'], () => passing.abort())

  await expect(sending(closing)(mail)).rejects.toThrow('closed the connection')
  await expect(sending(silent, () => passing.signal)(mail)).rejects.toThrow('in time')
})

test('a mail that was taken is sent, whether or not the server says goodbye', async () => {
  const server = await speaking(['220 x', '250 x', '250 x', '250 x', '354 x', '250 x'], () => {})

  expect(await sending(server)(mail)).toBe(undefined)
})

test('a user signs in before anything is sent', async () => {
  const signedIn: unknown[] = []
  const server = new SMTPServer({
    disabledCommands: ['STARTTLS'],
    allowInsecureAuth: true,
    onAuth: ({ username, password }, _session, done) => {
      signedIn.push([username, password])
      done(null, { user: username })
    },
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  endings.push(async () => once(server.close(), 'close'))
  const { port } = bound.parse(server.address())

  expect(await sending(`smtp://us%40er@127.0.0.1:${port}`)(mail)).toBe(undefined)
  expect(signedIn).toEqual([['us@er', 'p']])
})

test('a provider is given the mail once under its id, and its answer says whether to try again', async () => {
  const asked: { headers: Headers; body: unknown }[] = []
  const statuses = [200, 422, 429, 500, 302]
  const provider = await listen(async (request) => {
    asked.push({ headers: request.headers, body: await request.json() })
    return new Response('{}', { status: statuses[asked.length - 1] ?? 500 })
  })
  endings.push(() => provider.close())
  const url = `${provider.url}/emails`
  const send = httpTransport({ fetch, url, token: 'secret', deadline: never })

  const answers = []
  for (const _ of statuses) answers.push((await send(mail))?.forGood)

  expect(answers).toEqual([undefined, true, false, false, false])
  expect(asked[0]?.headers.get('authorization')).toBe('Bearer secret')
  expect(asked[0]?.headers.get('idempotency-key')).toBe(mail.id)
  expect(asked[0]?.body).toMatchObject({ from: mail.from, to: [mail.to], html: mail.html })
})

test('mail leaves in plain text in the local world only', () => {
  const transport = (ENVIRONMENT: string, MAIL_URL: string) => () =>
    transportOf(
      {
        config: readConfig({
          ENVIRONMENT,
          MAIL_URL,
          MAIL_TOKEN: 'secret',
          BASE_URL: 'https://api.example.com',
          WEB_URL: 'https://api.example.com/web',
          MAIL_DOMAIN: 'agents.example',
          SUPABASE_URL: 'https://project.supabase.co',
          SUPABASE_API_KEY: 'sb_publishable_of_nobody',
        }),
        fetch,
        deadline: never,
        now: () => new Date(),
      },
      connect,
    )

  for (const url of ['smtp://mail.example', 'http://mail.example', 'ftp://mail.example']) {
    expect(transport('production', url)).toThrow('https: or smtps:')
  }
  expect(transport('production', 'smtps://user@mail.example')).not.toThrow()
  expect(transport('local', 'smtp://127.0.0.1:1025')).not.toThrow()
})
