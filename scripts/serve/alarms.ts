/**
 * Tells the operator of alarms, by a POST or in some other way. An alarm is a line of the log that names one; the same alarm about
 * the same chain, account or relayer is sent once an hour, since most repeat until somebody acts.
 */
import { performance } from 'node:perf_hooks'
import type { AuthenticateOptions } from 'mailauth'
import * as z from 'zod'

const againMilliseconds = 3_600_000
const timeoutMilliseconds = 10_000
/** Alarms that are remembered; a flood of others is sent, too. */
const rememberedMax = 10_000

const lineSchema = z.looseObject({
  alarm: z.string(),
  chain: z.string().optional(),
  account: z.string().optional(),
  address: z.string().optional(),
})

/** Passes each line that this process writes to its log on to `hear`, too. */
export function hearLog(hear: (line: string) => void): void {
  const write = console.error
  console.error = (...said: unknown[]) => {
    write(...said)
    if (typeof said[0] === 'string') hear(said[0])
  }
}

/** An alarm with its sentence, and the fields of its line. */
export type Alarm = z.output<typeof lineSchema> & { text: string }
/** Tells the operator of an alarm; rejects if it was not taken. */
export type Tell = (alarm: Alarm) => Promise<void>

/** Returns a function that takes lines of the log and tells of those that are alarms. */
export function openAlarms(tell: Tell, say: (line: string) => void): (line: string) => void {
  const lastSent = new Map<string, number>()
  return (line) => {
    const alarm = alarmIn(line)
    if (!alarm) return
    const about = alarm.account ?? alarm.address ?? alarm.chain ?? 'the service'
    const key = `${alarm.alarm} ${about}`
    const now = performance.now()
    if (now - (lastSent.get(key) ?? -againMilliseconds) < againMilliseconds) return
    if (lastSent.size >= rememberedMax) lastSent.clear()
    lastSent.set(key, now)
    tell({ text: `Alarm ${alarm.alarm}: ${about}`, ...alarm }).catch((error: unknown) => {
      // It is sent again at the next line.
      lastSent.delete(key)
      say(`an alarm could not be sent: ${String(error)}`)
    })
  }
}

function alarmIn(line: string): z.output<typeof lineSchema> | undefined {
  if (!line.startsWith('{') || !line.includes('"alarm"')) return undefined
  try {
    return lineSchema.safeParse(JSON.parse(line)).data
  } catch {
    return undefined
  }
}

/** Returns the way to an address that takes alarms as JSON. */
export function postTo(url: string): Tell {
  return async (alarm) => {
    const signal = AbortSignal.timeout(timeoutMilliseconds)
    const headers = { 'content-type': 'application/json' }
    const body = JSON.stringify(alarm)
    const answer = await fetch(url, { method: 'POST', headers, body, signal })
    if (!answer.ok) throw new Error(`status ${answer.status}`)
  }
}

/** The SMTP transaction in which a mail came. */
export type MailSession = { ip: string; helo: string; from: string }

/** Asks the DNS; the system's resolver if absent. */
export type Resolver = NonNullable<AuthenticateOptions['resolver']>

const hostPattern = /^[a-z0-9_.-]{1,253}$/i

/** Returns the headers that a server puts on top of a mail. Nothing in them was chosen freely by the sender. */
export async function findingsOn(
  server: string,
  raw: Uint8Array,
  session: MailSession,
  resolver?: Resolver,
): Promise<string[]> {
  // Loaded by a service that receives mail only.
  const { authenticate } = await import('mailauth')
  const { ip, helo, from } = session
  const { spf, dkim, dmarc } = await authenticate(Buffer.from(raw), {
    ip,
    helo,
    sender: from,
    mta: server,
    strict: true,
    disableArc: true,
    disableBimi: true,
    ...(resolver && { resolver }),
  })
  // A reader cannot tell which of several signatures counts: the one for the author's domain, or any that passes.
  const passed = dkim.results.filter(({ status }) => status.result === 'pass' && !status.underSized)
  const signature = passed.find(({ status }) => status.aligned) ?? passed[0] ?? dkim.results[0]
  // A signature for the beginning of a body proves nothing about the rest (RFC 6376 section 8.2).
  const verdict = signature?.status.underSized ? 'policy' : signature?.status.result
  const results = [
    resultOf('spf', spf ? spf.status.result : 'none', 'smtp.mailfrom', from && domainOf(from)),
    resultOf('dkim', verdict ?? 'none', 'header.d', signature?.signingDomain),
    resultOf('dmarc', dmarc ? dmarc.status.result : 'none', 'header.from', dkim.headerFrom?.[0]),
  ]
  const by = helo.replaceAll(/[^a-z0-9.:[\]-]/gi, '')
  return [
    `Authentication-Results: ${server};\r\n ${results.join(';\r\n ')}`,
    `Received: from ${by} (${ip}) by ${server} with ESMTP; ${new Date().toUTCString()}`,
  ]
}

function resultOf(method: string, result: string, property: string, value = ''): string {
  const domain = domainOf(value)
  const verdict = /^[a-z]+$/.test(result) ? result : 'permerror'
  return `${method}=${verdict}${hostPattern.test(domain) ? ` ${property}=${domain}` : ''}`
}

function domainOf(address: string): string {
  return address.slice(address.lastIndexOf('@') + 1)
}
