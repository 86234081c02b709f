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
  const sealed = await sealText(world, JSON.stringify(letter), [id, recipient])
  return { id, to: recipient, topic, sealed }
}

/** Opens one mail. Throws if it was sealed under another key, id or address. */
export async function openOutboxMail(
  world: Pick<World, 'config'>,
  { id, to, sealed }: Pick<OutboxMail, 'id' | 'to' | 'sealed'>,
): Promise<Letter> {
  const { text } = await openText(world, sealed, [id, to])
  return letterSchema.parse(JSON.parse(text))
}

/** Facts that a text is bound to; its reader has to name them. */
type Bound = readonly (string | null)[]

/** Seals a text under OUTBOX_KEY; returns nonce and ciphertext in base64. */
export async function sealText(
  { config, randomBytes }: Pick<World, 'config' | 'randomBytes'>,
  text: string,
  bound: Bound,
): Promise<string> {
  const nonce = randomBytes(nonceBytes)
  const [secret] = secretValues(config, 'OUTBOX_KEY')
  const key = await outboxKey(secret, 'encrypt')
  const bytes = new TextEncoder().encode(text)
  const sealed = await crypto.subtle.encrypt(boundTo(nonce, bound), key, bytes)
  return encodeBase64(new Uint8Array([...nonce, ...new Uint8Array(sealed)]))
}

/**
 * Opens a text; `isOld` if a key opened it that is being replaced. Throws if it was sealed under another key, or bound
 * to other facts.
 */
export async function openText(
  { config }: Pick<World, 'config'>,
  sealed: string,
  bound: Bound,
): Promise<{ text: string; isOld: boolean }> {
  const bytes = decodeBytes(sealed) ?? new Uint8Array()
  const way = boundTo(bytes.subarray(0, nonceBytes), bound)
  const opening = secretValues(config, 'OUTBOX_KEY').map(async (secret, place) => {
    const key = await outboxKey(secret, 'decrypt')
    const opened = await crypto.subtle.decrypt(way, key, bytes.subarray(nonceBytes))
    return { text: new TextDecoder().decode(opened), isOld: place > 0 }
  })
  return Promise.any(opening)
}

function boundTo(iv: Uint8Array<ArrayBuffer>, bound: Bound) {
  return { name: cipher, iv, additionalData: new TextEncoder().encode(JSON.stringify(bound)) }
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
