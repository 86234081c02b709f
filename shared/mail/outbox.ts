/**
 * Seals a mail for the outbox and opens it for sending. A sealed mail is bound to its id and to whom
 * it goes, so the database can neither read a code nor have it sent to another address. Whoever holds
 * OUTBOX_KEY can do both.
 */
import * as z from 'zod'
import { decodeBase64, decodeBytes, encodeBase64 } from '../base64.ts'
import { required } from '../env.ts'
import type { World } from '../world.ts'
import type { Message } from './letter.ts'

/** What SQL takes as `mail jsonb` and gives to private.enqueue_mail. */
export type SealedMail = {
  id: string
  /** Null stands for the owner of the account, wherever the owner then has mail. */
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
  /** Who it is from; without it, the service itself. */
  from: z.string().optional(),
  headers: z.record(z.string(), z.string()).optional(),
})

/** The text of a mail that was opened. */
export type Letter = z.output<typeof letterSchema>

type Addressing = { to?: string; id?: string } & Pick<Letter, 'from' | 'headers'>

/**
 * Seals one mail. Without `to` it goes to the owner of the account that it is enqueued for; with an
 * `id` of its own, of which there can be one.
 */
export async function sealMail(
  world: Pick<World, 'config' | 'newId' | 'randomBytes'>,
  { to, topic, id = world.newId(), ...letter }: Message & Addressing,
): Promise<SealedMail> {
  const recipient = to ?? null
  const nonce = world.randomBytes(nonceBytes)
  const key = await outboxKey(world, 'encrypt')
  const text = new TextEncoder().encode(JSON.stringify(letter))
  const sealed = new Uint8Array(
    await crypto.subtle.encrypt(boundTo(nonce, id, recipient), key, text),
  )
  return { id, to: recipient, topic, sealed: encodeBase64(new Uint8Array([...nonce, ...sealed])) }
}

/** Opens one mail; throws when it was sealed under another key, id or address. */
export async function openMail(
  world: Pick<World, 'config'>,
  { id, to, sealed }: Pick<SealedMail, 'id' | 'to' | 'sealed'>,
): Promise<Letter> {
  const bytes = decodeBytes(sealed) ?? new Uint8Array()
  const key = await outboxKey(world, 'decrypt')
  const bound = boundTo(bytes.subarray(0, nonceBytes), id, to)
  const text = await crypto.subtle.decrypt(bound, key, bytes.subarray(nonceBytes))
  return letterSchema.parse(JSON.parse(new TextDecoder().decode(text)))
}

function boundTo(iv: Uint8Array<ArrayBuffer>, id: string, to: string | null) {
  return { name: cipher, iv, additionalData: new TextEncoder().encode(JSON.stringify([id, to])) }
}

function outboxKey({ config }: Pick<World, 'config'>, use: 'encrypt' | 'decrypt') {
  const key = new Uint8Array(decodeBase64(required(config, 'OUTBOX_KEY'), 32))
  return crypto.subtle.importKey('raw', key, cipher, false, [use])
}
