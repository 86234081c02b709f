/**
 * Has a mail read in another function, so that bytes which harm a parser do so away from keys, the
 * database and other requests. The answer of that function is validated like outside data.
 */
import { encodeTextForUrl } from '../../base64.ts'
import type { World } from '../../world.ts'
import type { MailOrigin } from './origin.ts'
import type { MailRefusal } from './parse-refusals.ts'
import { type MailContent, originHeader, type ReaderOrigin, readContent } from './reader-port.ts'

/** Timeout for reading a mail, which takes a second. After a longer queue it is better sent again later. */
const patienceMilliseconds = 30_000

/** Has a mail read. Throws if the reader does not answer. */
export async function readInMailReader(
  world: World,
  raw: Uint8Array,
  {
    from,
    isOwn,
    automatic,
    isInUse,
    authentication: { provenDomain },
  }: MailOrigin & {
    isInUse: boolean
  },
): Promise<MailContent | { refused: MailRefusal }> {
  if (!world.mailReader) throw new Error('MAIL_READER is not bound')
  const origin: ReaderOrigin = { from, isOwn, automatic, isInUse, provenDomain }
  const init = {
    method: 'POST',
    body: new Uint8Array(raw),
    headers: { [originHeader]: encodeTextForUrl(JSON.stringify(origin)) },
    signal: world.deadline(patienceMilliseconds),
  }
  const answer = await world.mailReader.fetch(new Request('http://mail-reader/', init))
  if (!answer.ok) throw new Error(`the reader of mails answers ${answer.status}`)
  return readContent(await answer.json())
}
