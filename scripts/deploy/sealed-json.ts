/** JSON in a sealed file beside the settings. */
import { existsSync } from 'node:fs'
import { Readable } from 'node:stream'
import { json } from 'node:stream/consumers'
import type * as z from 'zod'
import { openSealed, type SealedKind, sealFile } from '../backup/sealed-file.ts'

/** A sealed file and the form of its content. */
export type SealedJson<Content> = {
  path: string
  kind: SealedKind
  passphrase: string
  schema: z.ZodType<Content>
}

/** Returns the content; undefined without a file. Throws if the passphrase is another one. */
export async function readSealed<Content>(file: SealedJson<Content>): Promise<Content | undefined> {
  const { path, kind, passphrase, schema } = file
  if (!existsSync(path)) return undefined
  const read = async (content: AsyncIterable<Buffer>) =>
    schema.parse(await json(Readable.from(content)))
  return openSealed(path, passphrase, read, kind).catch((error: unknown) => {
    throw new Error(`${path}: ${error instanceof Error ? error.message : ''}`, { cause: error })
  })
}

/** Replaces the content. A kill leaves either the old file or the new one, whole. */
export function writeSealed<Content>(file: SealedJson<Content>, content: Content): Promise<void> {
  const { path, kind, passphrase } = file
  return sealFile(path, passphrase, Readable.from([Buffer.from(JSON.stringify(content))]), kind)
}
