/**
 * Secrets that a key management service seals. The text of a binding then holds the ciphertext, the key that opens
 * it, and credentials of somebody who may do no more than that; whoever reads the binding leaves a trace in the log of
 * the service, and loses it with those rights. AWS KMS (API of 2014-11-01, Signature Version 4) and Google Cloud
 * KMS (v1, a JWT that the account signs itself: AIP-4111). No error of this file repeats its input.
 */
import { AwsV4Signer } from 'aws4fetch'
import { SignJWT } from 'jose/jwt/sign'
import { importPKCS8 } from 'jose/key/import'
import * as z from 'zod'
import { decodeText, encodeText, parseJson } from './base64.ts'
import { fail, Rejection } from './contract/errors.ts'
import type { World } from './world.ts'

type Outside = Pick<World, 'fetch' | 'now' | 'deadline'>

const timeoutMilliseconds = 5_000
const awsKey = /^arn:aws(?:-us-gov)?:kms:([a-z0-9-]+):[0-9]{12}:key\/[A-Za-z0-9-]+$/
const googleKey = /^projects\/[^/]+\/locations\/[^/]+\/keyRings\/[^/]+\/cryptoKeys\/[^/]+$/

const awsSchema = z.strictObject({
  kms: z.literal('aws'),
  /** ARN of the key. */
  key: z.string().regex(awsKey),
  access_key_id: z.string().regex(/^[A-Z0-9]{16,128}$/),
  secret_access_key: z.string().regex(/^\S+$/),
})
const googleSchema = z.strictObject({
  kms: z.literal('google'),
  /** Resource name of the key. */
  key: z.string().regex(googleKey),
  /** Fields of the service account's JSON file. */
  client_email: z.email(),
  private_key_id: z.string().min(1),
  private_key: z.string().startsWith('-----BEGIN PRIVATE KEY-----'),
})
const ciphertext = z.base64().min(1)
const sealedSchema = z.discriminatedUnion('kms', [
  awsSchema.extend({ ciphertext }),
  googleSchema.extend({ ciphertext }),
])

/** Schema of a key of such a service, with the credentials to use it. */
export const kmsKeySchema = z.discriminatedUnion('kms', [awsSchema, googleSchema])

/** A key of such a service, with the credentials to use it. */
export type KmsKey = z.output<typeof kmsKeySchema>

/**
 * Returns a secret in the clear: the text itself, or what the service opens. `name` is that of its binding, and is
 * bound into the ciphertext. Rejects with `unavailable` if the service does not answer or refuses.
 */
export async function openSecret(outside: Outside, name: string, text: string): Promise<string> {
  const fields = parseJson(text)
  if (typeof fields !== 'object' || fields === null || !('kms' in fields)) return text
  const read = sealedSchema.safeParse(fields)
  if (!read.success) throw new Error(`${name} names a KMS, but not all that opens it`)
  const { ciphertext: sealed, ...key } = read.data
  const opened = await askKms(outside, key, 'decrypt', name, sealed)
  const plain = decodeText(opened)
  if (plain === undefined) throw cannotUse(key, 'opened no text')
  return plain
}

/** Has the service seal a secret. Returns the text for its binding, which `openSecret` opens. */
export async function sealSecret(
  outside: Outside,
  name: string,
  text: string,
  key: KmsKey,
): Promise<string> {
  const sealed = await askKms(outside, key, 'encrypt', name, encodeText(text))
  return JSON.stringify({ ...key, ciphertext: sealed })
}

type Act = 'encrypt' | 'decrypt'

/** Sends one request; input and answer are base64. */
async function askKms(outside: Outside, key: KmsKey, act: Act, name: string, input: string) {
  const request =
    key.kms === 'aws'
      ? await awsRequest(outside, key, act, name, input)
      : await googleRequest(outside, key, act, name, input)
  const answer = await send(outside, key, request)
  const field = fieldsOf(key)[act][1]
  const found = typeof answer === 'object' && answer !== null ? Object.entries(answer) : []
  const output: unknown = found.find(([one]) => one === field)?.[1]
  if (typeof output !== 'string') throw cannotUse(key, `answered without ${field}`)
  return output
}

/** Returns the names of input and output of each act. */
function fieldsOf({ kms }: KmsKey) {
  return kms === 'aws'
    ? ({
        encrypt: ['Plaintext', 'CiphertextBlob'],
        decrypt: ['CiphertextBlob', 'Plaintext'],
      } as const)
    : ({ encrypt: ['plaintext', 'ciphertext'], decrypt: ['ciphertext', 'plaintext'] } as const)
}

async function awsRequest(
  { now }: Outside,
  key: Extract<KmsKey, { kms: 'aws' }>,
  act: Act,
  name: string,
  input: string,
): Promise<Request> {
  const region = awsKey.exec(key.key)?.[1] ?? ''
  const [field] = fieldsOf(key)[act]
  const body = JSON.stringify({
    KeyId: key.key,
    EncryptionContext: { secret: name },
    [field]: input,
  })
  const { url, headers } = await new AwsV4Signer({
    method: 'POST',
    url: `https://kms.${region}.amazonaws.com/`,
    headers: {
      'content-type': 'application/x-amz-json-1.1',
      'x-amz-target': `TrentService.${act === 'encrypt' ? 'Encrypt' : 'Decrypt'}`,
    },
    body,
    service: 'kms',
    region,
    accessKeyId: key.access_key_id,
    secretAccessKey: key.secret_access_key,
    datetime: now()
      .toISOString()
      .replaceAll(/[:-]|\.[0-9]{3}/g, ''),
  }).sign()
  return new Request(url, { method: 'POST', headers, body })
}

async function googleRequest(
  { now }: Outside,
  key: Extract<KmsKey, { kms: 'google' }>,
  act: Act,
  name: string,
  input: string,
): Promise<Request> {
  const origin = 'https://cloudkms.googleapis.com'
  const seconds = Math.floor(now().getTime() / 1_000)
  const token = await new SignJWT()
    .setProtectedHeader({ alg: 'RS256', typ: 'JWT', kid: key.private_key_id })
    .setIssuer(key.client_email)
    .setSubject(key.client_email)
    .setAudience(`${origin}/`)
    .setIssuedAt(seconds)
    .setExpirationTime(seconds + 300)
    .sign(await importPKCS8(key.private_key, 'RS256'))
  const [field] = fieldsOf(key)[act]
  return new Request(`${origin}/v1/${key.key}:${act}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify({ [field]: input, additionalAuthenticatedData: encodeText(name) }),
  })
}

async function send({ fetch, deadline }: Outside, key: KmsKey, request: Request): Promise<unknown> {
  const signal = deadline(timeoutMilliseconds)
  const answered = await fetch(request, { signal, redirect: 'manual' })
    .then(async (response) => ({ status: response.status, body: parseJson(await response.text()) }))
    .catch(() => undefined)
  if (!answered) throw cannotUse(key, 'did not answer')
  if (answered.status !== 200) {
    throw cannotUse(key, `answered ${answered.status} ${reasonIn(answered.body)}`)
  }
  return answered.body
}

const refusal = z.union([
  z.object({ __type: z.string() }).transform(({ __type: type }) => type),
  z.object({ error: z.object({ status: z.string() }) }).transform(({ error }) => error.status),
])

/** Returns the code of a refusal, such as AccessDeniedException or PERMISSION_DENIED. */
function reasonIn(body: unknown): string {
  return (refusal.safeParse(body).data ?? '').replaceAll(/[^A-Za-z_]/g, '').slice(0, 60)
}

function cannotUse({ key }: KmsKey, what: string): Rejection {
  return new Rejection(fail('unavailable', { log: `the KMS of ${key} ${what}`.trim() }))
}
