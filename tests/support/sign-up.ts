/** The sign-up of a person, as tests do it: the mail is read from the sealed outbox. */
import * as z from 'zod'
import { openOutboxMail } from '../../shared/mail/outbox.ts'
import type { Answer, TestWorld } from './world.ts'

export const mailRows = z.array(z.object({ id: z.uuid(), to: z.string(), sealed: z.string() }))

/** Number of clients so far; each request comes from a network of its own, unless a test says otherwise. */
let clients = 0
export function newClient(): Record<string, string> {
  clients += 1
  return { 'cf-connecting-ip': `10.${clients & 255}.${(clients >> 8) & 255}.${clients >> 16}` }
}

export function post(
  world: TestWorld,
  path: string,
  body: unknown,
  headers: Record<string, string> = newClient(),
): Promise<Answer> {
  const json = { 'content-type': 'application/json', ...headers }
  return world.send(path, { method: 'POST', body: JSON.stringify(body), headers: json })
}

/** Returns every mail to an address, oldest first. */
export async function mailsTo(world: TestWorld, email: string) {
  const rows = await world.db.sql`select id, to_address as to, sealed from private.outbox
    where to_address = ${email} order by created_at`
  return Promise.all(mailRows.parse([...rows]).map((row) => openOutboxMail(world.world, row)))
}

/** Returns the code of the newest mail to an address. */
export async function codeFor(world: TestWorld, email: string): Promise<string> {
  const text = (await mailsTo(world, email)).at(-1)?.text ?? ''
  const [code] = /\b\d{6}\b/.exec(text) ?? []
  if (code === undefined) throw new Error(`no code in the mail to ${email}: ${text}`)
  return code
}

export function requestCode(world: TestWorld, email: string, headers?: Record<string, string>) {
  return post(world, '/request-signup-verification', { email }, headers)
}

export function confirm(
  world: TestWorld,
  email: string,
  code: string,
  headers?: Record<string, string>,
) {
  return post(world, '/confirm-registration-code', { email, code }, headers)
}

/** Returns the secret part of a registration link for a proven address. */
export async function linkFor(world: TestWorld, email: string): Promise<string> {
  await requestCode(world, email)
  const { body } = await confirm(world, email, await codeFor(world, email))
  return String(body['registration_url']).split('/').at(-1) ?? ''
}
