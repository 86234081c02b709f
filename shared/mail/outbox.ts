/**
 * Seals a mail for the outbox and opens it for sending. The seal is bound to the mail's id and
 * recipient, so the database can neither read a code in it nor redirect it to another address. Whoever
 * holds OUTBOX_KEY can do both.
 */
import * as z from 'zod'
import { decodeBase64, decodeBytes, encodeBase64 } from '../base64.ts'
import { secretValues } from '../env.ts'
import type { World } from '../world.ts'
import type { Message } from './letter.ts'

/** The value that SQL takes as `mail jsonb` and passes to private.enqueue_mail. */
export type OutboxMail = {
  id: string
  /** Recipient; null means the owner of the account, at the owner's address when the mail is sent. */
  to: string | null
  topic: string
  /** Nonce and ciphertext in base64. */
  sealed: string
}

const cipher = 'AES-GCM'
const nonceBytes = 12
const letterSchema = z.object({
  subject: z.string(),
  text: z.string(),
  html: z.string(),
  link: z.string().optional(),
  /** The sender; if absent, the service itself. */
  from: z.string().optional(),
  headers: z.record(z.string(), z.string()).optional(),
})

/** The content of an opened mail. */
export type Letter = z.output<typeof letterSchema>

type Addressing = { to?: string; id?: string } & Pick<Letter, 'from' | 'headers'>

/**
 * Seals one mail. Without `to` it goes to the owner of the account that it is enqueued for. A mail with
 * a given `id` is enqueued only once.
 */
export async function sealForOutbox(
  world: Pick<World, 'config' | 'newId' | 'randomBytes'>,
  { to, topic, id = world.newId(), ...letter }: Message & Addressing,
): Promise<OutboxMail> {
  const recipient = to ?? null
  const nonce = world.randomBytes(nonceBytes)
  const [secret] = secretValues(world.config, 'OUTBOX_KEY')
  const key = await outboxKey(secret, 'encrypt')
  const text = new TextEncoder().encode(JSON.stringify(letter))
  const sealed = new Uint8Array(
    await crypto.subtle.encrypt(boundTo(nonce, id, recipient), key, text),
  )
  return { id, to: recipient, topic, sealed: encodeBase64(new Uint8Array([...nonce, ...sealed])) }
}

/** Opens one mail. Throws if it was sealed under another key, id or address. */
export async function openOutboxMail(
  world: Pick<World, 'config'>,
  { id, to, sealed }: Pick<OutboxMail, 'id' | 'to' | 'sealed'>,
): Promise<Letter> {
  const bytes = decodeBytes(sealed) ?? new Uint8Array()
  const bound = boundTo(bytes.subarray(0, nonceBytes), id, to)
  const secrets = secretValues(world.config, 'OUTBOX_KEY')
  const keys = await Promise.all(secrets.map((secret) => outboxKey(secret, 'decrypt')))
  const text = await Promise.any(
    keys.map((key) => crypto.subtle.decrypt(bound, key, bytes.subarray(nonceBytes))),
  )
  return letterSchema.parse(JSON.parse(new TextDecoder().decode(text)))
}

function boundTo(iv: Uint8Array<ArrayBuffer>, id: string, to: string | null) {
  return { name: cipher, iv, additionalData: new TextEncoder().encode(JSON.stringify([id, to])) }
}

async function outboxKey(secret: string, use: 'encrypt' | 'decrypt') {
  const key = new Uint8Array(decodeBase64(secret, 32))
  return crypto.subtle.importKey('raw', key, cipher, false, [use])
}

/** Takes work that continues after the response is sent. Its outcome is not reported to anybody. */
export type WaitUntil = (work: Promise<void>) => void

/** Tells the mailer that something waits. */
export function wakeMailer(world: World, later: WaitUntil): void {
  const failed = (error: unknown) => world.log({ work: 'mail', log: String(error) })
  if (world.mailer) later(world.mailer.deliver().catch(failed))
}

/** Returns the Message-ID of a mail of this service. */
export function messageIdOf(domain: string, id: string): string {
  return `<${id}@${domain}>`
}

/** Returns the id of the mail of this service that a Message-ID `<id@MAIL_DOMAIN>` names, else null. */
export function ownMailIdOf(domain: string, messageId: string | undefined): string | null {
  const [id = '', host] = messageId?.slice(1, -1).toLowerCase().split('@') ?? []
  return host === domain.toLowerCase() && z.uuid().safeParse(id).success ? id : null
}
