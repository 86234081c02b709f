/**
 * Fakes of AWS KMS and Google Cloud KMS, because neither runs here. They check what the originals check of a request
 * (signature or token, time, key, bound context) and refuse with the codes of the originals.
 */
import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  generateKeyPairSync,
  randomBytes,
} from 'node:crypto'
import { importSPKI, jwtVerify } from 'jose'
import * as z from 'zod'
import type { KmsKey } from '../../shared/kms.ts'
import type { Fetch } from '../../shared/world.ts'

/** A service that holds one key. */
export type FakeKms = {
  key: KmsKey
  host: string
  /** Answers requests to the host; others go on to `network`. */
  over: (network: Fetch) => Fetch
  /** Acts that were asked for. */
  asked: string[]
  /** Code with which every request is refused, or `silent`; undefined for none. */
  refuses: string | undefined
}

class Refused extends Error {}

function sealer() {
  const secret = randomBytes(32)
  const open = (text: string, context: string): Buffer => {
    const bytes = Buffer.from(text, 'base64')
    const cipher = createDecipheriv('aes-256-gcm', secret, bytes.subarray(0, 12))
    cipher.setAAD(Buffer.from(context)).setAuthTag(bytes.subarray(12, 28))
    return Buffer.concat([cipher.update(bytes.subarray(28)), cipher.final()])
  }
  const seal = (plain: Buffer, context: string): string => {
    const nonce = randomBytes(12)
    const cipher = createCipheriv('aes-256-gcm', secret, nonce).setAAD(Buffer.from(context))
    const sealed = Buffer.concat([cipher.update(plain), cipher.final()])
    return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64')
  }
  return { open, seal }
}

type Answering = (request: Request, fake: FakeKms) => Promise<[act: string, answer: object]>

function fakeOf(
  { key, host }: Pick<FakeKms, 'key' | 'host'>,
  answer: Answering,
  refusal: (code: string) => Response,
): FakeKms {
  const fake: FakeKms = { key, host, asked: [], refuses: undefined, over }
  function over(network: Fetch): Fetch {
    return async (input, init) => {
      const { host: asked } = new URL(input instanceof Request ? input.url : input)
      if (asked !== host) return network(input, init)
      const request = new Request(input, init)
      if (fake.refuses === 'silent') throw new TypeError('fetch failed')
      try {
        const [act, body] = await answer(request, fake)
        fake.asked.push(act)
        if (fake.refuses !== undefined) throw new Refused(fake.refuses)
        return Response.json(body)
      } catch (error) {
        if (!(error instanceof Refused)) throw error
        return refusal(error.message)
      }
    }
  }
  return fake
}

const awsBody = z.object({
  KeyId: z.string(),
  EncryptionContext: z.record(z.string(), z.string()).default({}),
  Plaintext: z.base64().optional(),
  CiphertextBlob: z.base64().optional(),
})

/** Opens AWS KMS in eu-central-1 with one key. */
export function openAwsKms(now: () => Date): FakeKms {
  const key = {
    kms: 'aws' as const,
    key: 'arn:aws:kms:eu-central-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab',
    access_key_id: 'AKIAIOSFODNN7EXAMPLE',
    secret_access_key: randomBytes(30).toString('base64'),
  }
  const { open, seal } = sealer()
  const answer: Answering = async (request) => {
    const text = await request.text()
    demandSigned(request, text, key.secret_access_key, now())
    const { KeyId, EncryptionContext, Plaintext, CiphertextBlob } = awsBody.parse(JSON.parse(text))
    if (KeyId !== key.key) throw new Refused('NotFoundException')
    const context = JSON.stringify(EncryptionContext)
    const target = request.headers.get('x-amz-target')
    if (target === 'TrentService.Encrypt' && Plaintext !== undefined) {
      const plain = Buffer.from(Plaintext, 'base64')
      if (plain.length === 0 || plain.length > 4_096) throw new Refused('ValidationException')
      return ['encrypt', { KeyId, CiphertextBlob: seal(plain, context) }]
    }
    if (target !== 'TrentService.Decrypt' || CiphertextBlob === undefined) {
      throw new Refused('UnknownOperationException')
    }
    const plain = attempt(() => open(CiphertextBlob, context), 'InvalidCiphertextException')
    return ['decrypt', { KeyId, Plaintext: plain.toString('base64') }]
  }
  return fakeOf({ key, host: 'kms.eu-central-1.amazonaws.com' }, answer, (code) =>
    Response.json({ __type: code, message: 'refused' }, { status: 400 }),
  )
}

/** Throws unless the request has a signature of version 4, counted here again, that is five minutes old at most. */
function demandSigned(request: Request, body: string, secret: string, now: Date): void {
  const header = request.headers.get('authorization') ?? ''
  const [, date = '', region = '', names = '', signature = ''] =
    /^AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE\/(\d{8})\/([a-z0-9-]+)\/kms\/aws4_request, SignedHeaders=([a-z0-9;-]+), Signature=([0-9a-f]{64})$/.exec(
      header,
    ) ?? []
  const at = request.headers.get('x-amz-date') ?? ''
  const [, year, month, day, hour, minute, second] =
    /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(at) ?? []
  const age = now.getTime() - Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`)
  const { host } = new URL(request.url)
  const signed = names.split(';')
  const isWhole = ['host', 'x-amz-date', 'x-amz-target'].every((name) => signed.includes(name))
  if (request.headers.get('content-type') !== 'application/x-amz-json-1.1' || !isWhole) {
    throw new Refused('IncompleteSignatureException')
  }
  const canonical = [
    'POST',
    '/',
    '',
    ...signed.map((name) => `${name}:${name === 'host' ? host : request.headers.get(name)}`),
    '',
    names,
    sha256(body),
  ].join('\n')
  const scope = `${date}/${region}/kms/aws4_request`
  const signing = [date, region, 'kms', 'aws4_request'].reduce<Buffer | string>(
    (chain, part) => createHmac('sha256', chain).update(part).digest(),
    `AWS4${secret}`,
  )
  const text = ['AWS4-HMAC-SHA256', at, scope, sha256(canonical)].join('\n')
  const isSame = createHmac('sha256', signing).update(text).digest('hex') === signature
  const isRecent = Math.abs(age) <= 300_000 && at.startsWith(date)
  if (!isSame || !isRecent || !host.includes(`.${region}.`)) {
    throw new Refused('InvalidSignatureException')
  }
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

const googleBody = z.strictObject({
  plaintext: z.base64().optional(),
  ciphertext: z.base64().optional(),
  additionalAuthenticatedData: z.base64().default(''),
})

/** Opens Google Cloud KMS with one key and one service account. */
export function openGoogleKms(now: () => Date): FakeKms {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', {
    modulusLength: 2_048,
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  })
  const key = {
    kms: 'google' as const,
    key: 'projects/shop/locations/europe-west3/keyRings/account/cryptoKeys/custody',
    client_email: 'custody@shop.iam.gserviceaccount.com',
    private_key_id: 'f00d',
    private_key: privateKey,
  }
  const { open, seal } = sealer()
  const answer: Answering = async (request) => {
    const token = request.headers.get('authorization')?.replace(/^Bearer /, '') ?? ''
    const { protectedHeader, payload } = await jwtVerify(
      token,
      await importSPKI(publicKey, 'RS256'),
      {
        issuer: key.client_email,
        audience: 'https://cloudkms.googleapis.com/',
        currentDate: now(),
      },
    ).catch(() => {
      throw new Refused('UNAUTHENTICATED')
    })
    const { iat = Number.POSITIVE_INFINITY, exp = Number.POSITIVE_INFINITY } = payload
    const isEarly = iat > now().getTime() / 1_000 + 60
    const isOwn = payload.sub === key.client_email && protectedHeader.kid === key.private_key_id
    if (isEarly || exp - iat > 3_600 || !isOwn) throw new Refused('UNAUTHENTICATED')
    const [, name, act] = /^\/v1\/(.+):(encrypt|decrypt)$/.exec(new URL(request.url).pathname) ?? []
    if (name !== key.key) throw new Refused('NOT_FOUND')
    const fields = googleBody.parse(await request.json())
    const { plaintext, ciphertext, additionalAuthenticatedData: context } = fields
    if (act === 'encrypt' && plaintext !== undefined) {
      const sealed = seal(Buffer.from(plaintext, 'base64'), context)
      return ['encrypt', { name: `${name}/cryptoKeyVersions/1`, ciphertext: sealed }]
    }
    const plain = attempt(() => open(ciphertext ?? '', context), 'INVALID_ARGUMENT')
    return ['decrypt', { plaintext: plain.toString('base64'), usedPrimary: true }]
  }
  const statuses: Record<string, number> = { UNAUTHENTICATED: 401, NOT_FOUND: 404 }
  return fakeOf({ key, host: 'cloudkms.googleapis.com' }, answer, (status) => {
    const code = statuses[status] ?? (status === 'PERMISSION_DENIED' ? 403 : 400)
    return Response.json({ error: { code, message: 'refused', status } }, { status: code })
  })
}

function attempt<T>(read: () => T, refusal: string): T {
  try {
    return read()
  } catch {
    throw new Refused(refusal)
  }
}
