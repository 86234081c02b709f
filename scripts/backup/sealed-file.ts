/** Files under a passphrase: gzip in AES-256-GCM, under a key made by scrypt (RFC 7914). */
import { createCipheriv, createDecipheriv, randomBytes, scrypt } from 'node:crypto'
import { createReadStream, createWriteStream, renameSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { finished, pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { createGunzip, createGzip } from 'node:zlib'

/** Content of a sealed file. A file of one kind is not opened as another. */
export type SealedKind = 'backup' | 'secrets' | 'tokens'

const magicOf = (kind: SealedKind) => Buffer.from(`agent-operating-account ${kind} 1\n`)
const [saltBytes, ivBytes, tagBytes] = [16, 12, 16]
const cost = { N: 2 ** 17, r: 8, p: 1, maxmem: 2 ** 28 }
const algorithm = 'aes-256-gcm'

const derive = promisify<string, Buffer, number, object, Buffer>(scrypt)

/** Salt of the files that this process seals: they share the work of deriving a key, each has its own IV. */
const ownSalt = randomBytes(saltBytes)
const keys = new Map<string, Promise<Buffer>>()
const keysMax = 16

function keyOf(passphrase: string, head: Buffer): Promise<Buffer> {
  const salt = head.subarray(-saltBytes - ivBytes, -ivBytes)
  const name = `${salt.toString('hex')} ${passphrase}`
  const key = keys.get(name) ?? derive(passphrase.normalize('NFKC'), salt, 32, cost)
  if (keys.size >= keysMax) keys.clear()
  keys.set(name, key)
  return key
}

/** Writes a file that appears under its name only when it is complete. */
export async function sealFile(
  path: string,
  passphrase: string,
  content: AsyncIterable<Buffer>,
  kind: SealedKind = 'backup',
): Promise<void> {
  const head = Buffer.concat([magicOf(kind), ownSalt, randomBytes(ivBytes)])
  const cipher = createCipheriv(algorithm, await keyOf(passphrase, head), head.subarray(-ivBytes))
  cipher.setAAD(head)
  const file = createWriteStream(`${path}.new`, { mode: 0o600, flush: true })
  file.write(head)
  await pipeline(content, createGzip(), cipher, file, { end: false })
  file.end(cipher.getAuthTag())
  await finished(file)
  renameSync(`${path}.new`, path)
}

/** Opens a file and passes on its content, once all of it was checked. */
export async function openSealed<Result>(
  path: string,
  passphrase: string,
  use: (content: AsyncIterable<Buffer>) => Promise<Result>,
  kind: SealedKind = 'backup',
): Promise<Result> {
  const { head, tag, end } = await readEnds(path, magicOf(kind), kind)
  const key = await keyOf(passphrase, head)
  const decipher = () =>
    createDecipheriv(algorithm, key, head.subarray(-ivBytes)).setAAD(head).setAuthTag(tag)
  const sealed = () => createReadStream(path, { start: head.length, end })
  try {
    await pipeline(sealed(), decipher(), async (bytes) => {
      for await (const _ of bytes);
    })
  } catch (error) {
    throw new Error('the passphrase is another one, or the file is damaged', { cause: error })
  }
  return pipeline(sealed(), decipher(), createGunzip(), use)
}

async function readEnds(path: string, magic: Buffer, kind: SealedKind) {
  const headBytes = magic.length + saltBytes + ivBytes
  const file = await open(path)
  try {
    const { size } = await file.stat()
    const head = Buffer.alloc(headBytes)
    const tag = Buffer.alloc(tagBytes)
    await file.read(head, 0, headBytes, 0)
    await file.read(tag, 0, tagBytes, Math.max(size - tagBytes, 0))
    if (size <= headBytes + tagBytes || !head.subarray(0, magic.length).equals(magic)) {
      throw new Error(`${path} is not a sealed file of the kind ${kind}`)
    }
    return { head, tag, end: size - tagBytes - 1 }
  } finally {
    await file.close()
  }
}
