import * as z from 'zod'
import { decodeBytes, parseJson } from '../../shared/base64.ts'
import { fail } from '../../shared/contract/errors.ts'
import { answer, fixedHeaders, refuse, wrongPath } from '../../shared/http/answer.ts'
import { readAtMost } from '../../shared/http/input.ts'
import { mailLimits } from '../../shared/mailbox/receive/parse.ts'
import { isTemporary, mailRefusals } from '../../shared/mailbox/receive/parse-refusals.ts'
import type {
  checkRecipient,
  Reception,
  receiveMail,
} from '../../shared/mailbox/receive/receive.ts'
import type { World } from '../../shared/world.ts'
import { isSigned } from './signature.ts'

const path = '/inbound-mail'
/** Bytes of a request: the largest mail in base64, and 2,048 for the rest of the JSON. */
const bodyBytesMax = Math.ceil(mailLimits.bytesMax / 3) * 4 + 2_048

const address = z.string().max(320)
/** Body of a request. Without `raw_base64` it only asks if the recipient is known. */
const bodySchema = z.object({
  mail_from: address,
  rcpt_to: address,
  raw_base64: z.string().optional(),
})

/** The two functions of the mailbox that the webhook calls. */
export type Mailbox = { receiveMail: typeof receiveMail; takesMail: typeof checkRecipient }

/**
 * Takes mail from a server that is not the platform's own. Before that server adds its own
 * Authentication-Results, it must remove all others that carry the name MAIL_RECEIVER.
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
  const reception = await receiveWebhook(world, mailbox, new TextDecoder().decode(bytes))
  return reception
    ? answerReception(reception, requestId)
    : refuse(fail('invalid_request'), requestId)
}

async function receiveWebhook(
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

/** Answers the server that sent the mail; `smtp` is the reply that it should give its client. */
function answerReception(reception: Reception, requestId: string): Response {
  if (reception === 'kept') return answer('{"accepted":true}', requestId)
  const { refused } = reception
  const smtp = mailRefusals[refused]
  const [status, error] = isTemporary(refused) ? [503, 'unavailable'] : [422, 'mail_refused']
  const message = smtp.slice('550 5.1.1 '.length)
  const body = JSON.stringify({ error, message, smtp, request_id: requestId })
  return new Response(body, { status, headers: fixedHeaders(requestId) })
}
