import * as z from 'zod'
import { decodeBytes, parseJson } from '../../shared/base64.ts'
import { fail } from '../../shared/contract/errors.ts'
import { answer, fixedHeaders, refuse, wrongPath } from '../../shared/http/answer.ts'
import { readAtMost } from '../../shared/http/read-at-most.ts'
import { mailLimits } from '../../shared/mailbox/parse.ts'
import { isTemporary, mailRefusals } from '../../shared/mailbox/parse-refusals.ts'
import type { Reception, receiveMail, takesMail } from '../../shared/mailbox/receive.ts'
import type { World } from '../../shared/world.ts'
import { isSigned } from './signature.ts'

const path = '/inbound-mail'
/** The largest mail in base64, and room for the rest. */
const bodyBytesMax = Math.ceil(mailLimits.bytesMax / 3) * 4 + 2_048

const address = z.string().max(320)
/** Without `raw_base64` it only asks whether the recipient is known. */
const bodySchema = z.object({
  mail_from: address,
  rcpt_to: address,
  raw_base64: z.string().optional(),
})

/** To whom it hands mails on. */
export type Mailbox = { receiveMail: typeof receiveMail; takesMail: typeof takesMail }

/**
 * Takes mail from a server that is not the platform's own. It has to take out of a mail what bears the
 * name MAIL_RECEIVER in Authentication-Results before it writes its own above.
 */
export async function serveWebhook(
  world: World,
  mailbox: Mailbox,
  request: Request,
): Promise<Response> {
  const requestId = world.newId()
  if (new URL(request.url).pathname !== path) return refuse(wrongPath(path), requestId)
  if (request.method !== 'POST') {
    return refuse(fail('method_not_allowed', { details: { allow: 'POST' } }), requestId)
  }
  const bytes = await readAtMost(request.body, bodyBytesMax)
  if (bytes === 'too_long') return answerReception({ refused: 'too_large' }, requestId)
  if (bytes === 'broken') return refuse(fail('invalid_request'), requestId)
  if (!(await isSigned(world, request.headers, bytes))) {
    const message = 'The signature is missing, wrong, or older than five minutes.'
    return refuse(fail('unauthorized', { message }), requestId)
  }
  const reception = await receive(world, mailbox, new TextDecoder().decode(bytes))
  return reception
    ? answerReception(reception, requestId)
    : refuse(fail('invalid_request'), requestId)
}

async function receive(
  world: World,
  mailbox: Mailbox,
  text: string,
): Promise<Reception | undefined> {
  const body = bodySchema.safeParse(parseJson(text)).data
  if (!body) return undefined
  const { mail_from: envelopeFrom, rcpt_to: envelopeTo, raw_base64: encoded } = body
  if (encoded === undefined) return mailbox.takesMail(world, envelopeTo)
  const raw = decodeBytes(encoded)
  return raw && mailbox.receiveMail(world, { envelopeFrom, envelopeTo, raw })
}

/** `smtp` is what the server should answer its client. */
function answerReception(reception: Reception, requestId: string): Response {
  if (reception === 'kept') return answer('{"accepted":true}', requestId)
  const { refused } = reception
  const smtp = mailRefusals[refused]
  const [status, error] = isTemporary(refused) ? [503, 'unavailable'] : [422, 'mail_refused']
  const message = smtp.slice('550 5.1.1 '.length)
  const body = JSON.stringify({ error, message, smtp, request_id: requestId })
  return new Response(body, { status, headers: fixedHeaders(requestId) })
}
