/** Files under a passphrase: gzip in AES-256-GCM, under a key made by scrypt (RFC 7914). */
import { createCipheriv, createDecipheriv, randomBytes, scrypt } from 'node:crypto'
import { createReadStream, createWriteStream, renameSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { finished, pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { createGunzip, createGzip } from 'node:zlib'

const magic = Buffer.from('agent-operating-account backup 1\n')
const [saltBytes, ivBytes, tagBytes] = [16, 12, 16]
const headBytes = magic.length + saltBytes + ivBytes
const cost = { N: 2 ** 17, r: 8, p: 1, maxmem: 2 ** 28 }
const algorithm = 'aes-256-gcm'

const derive = promisify<string, Buffer, number, object, Buffer>(scrypt)

function keyOf(passphrase: string, head: Buffer): Promise<Buffer> {
  const salt = head.subarray(magic.length, magic.length + saltBytes)
  return derive(passphrase.normalize('NFKC'), salt, 32, cost)
}

/** Writes a file that appears under its name only when it is complete. */
export async function sealFile(
  path: string,
  passphrase: string,
  content: AsyncIterable<Buffer>,
): Promise<void> {
  const head = Buffer.concat([magic, randomBytes(saltBytes + ivBytes)])
  const cipher = createCipheriv(algorithm, await keyOf(passphrase, head), head.subarray(-ivBytes))
  cipher.setAAD(head)
  const file = createWriteStream(`${path}.new`, { mode: 0o600 })
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
): Promise<Result> {
  const { head, tag, end } = await readEnds(path)
  const key = await keyOf(passphrase, head)
  const decipher = () =>
    createDecipheriv(algorithm, key, head.subarray(-ivBytes)).setAAD(head).setAuthTag(tag)
  const sealed = () => createReadStream(path, { start: headBytes, end })
  try {
    await pipeline(sealed(), decipher(), async (bytes) => {
      for await (const _ of bytes);
    })
  } catch (error) {
    throw new Error('the passphrase is another one, or the file is damaged', { cause: error })
  }
  return pipeline(sealed(), decipher(), createGunzip(), use)
}

async function readEnds(path: string) {
  const file = await open(path)
  try {
    const { size } = await file.stat()
    const head = Buffer.alloc(headBytes)
    const tag = Buffer.alloc(tagBytes)
    await file.read(head, 0, headBytes, 0)
    await file.read(tag, 0, tagBytes, Math.max(size - tagBytes, 0))
    if (size <= headBytes + tagBytes || !head.subarray(0, magic.length).equals(magic)) {
      throw new Error(`${path} is not a backup`)
    }
    return { head, tag, end: size - tagBytes - 1 }
  } finally {
    await file.close()
  }
}
