/** Reads a mail that was already admitted. The cost of this work grows with what a stranger wrote. */
import { decodeText, parseJson } from '../../base64.ts'
import type { World } from '../../world.ts'
import { codeHosts } from '../codes/code-links.ts'
import { markCodes } from './mark-codes.ts'
import { parseMail } from './parse.ts'
import type { MailRefusal } from './parse-refusals.ts'
import {
  type MailContent,
  originHeader,
  type ReaderOrigin,
  readerOriginSchema,
  writeContent,
} from './reader-port.ts'

/** Answers the requests of `readInMailReader`. */
export async function serveReader(
  world: Pick<World, 'randomBytes'>,
  request: Request,
): Promise<Response> {
  const text = decodeText(request.headers.get(originHeader) ?? '') ?? ''
  const origin = readerOriginSchema.safeParse(parseJson(text)).data
  if (!origin) return new Response(null, { status: 404 })
  const raw = new Uint8Array(await request.arrayBuffer())
  return Response.json(writeContent(await readRawMail(world, raw, origin)))
}

async function readRawMail(
  world: Pick<World, 'randomBytes'>,
  raw: Uint8Array,
  { from, isOwn, automatic, isInUse, provenDomain }: ReaderOrigin,
): Promise<MailContent | { refused: MailRefusal }> {
  const mail = await parseMail(raw)
  if ('refused' in mail) return mail
  const marked = markCodes(world, mail, isInUse)
  const texts = [mail.subject, mail.text]
  const hosts = isOwn ? [] : codeHosts({ from, provenDomain }, texts)
  return { ...marked, body: { ...marked.body, automatic }, codeHosts: hosts }
}
