/** Input of a handler and the answers that it may give. */
import type * as z from 'zod'
import type { Refusal } from '../contract/errors.ts'
import type { Operation } from '../contract/operation.ts'
import type { CallerDatabase } from '../db/database.ts'
import type { WaitUntil } from '../mail/outbox.ts'
import type { World } from '../world.ts'

/** One request: its caller and everything that its handler may use. */
export type Context = {
  world: World
  /** Bound to the caller of this request; of no use in a public operation. */
  db: CallerDatabase
  /** True once the database was called: it has then admitted or refused the caller itself. */
  isAdmitted(): boolean
  /** HMAC of the caller's token, for custody. */
  credential: string
  now(): Date
  requestId: string
  /** Fingerprint of the client: SHA-256 of X-Device-Id, else of the user agent. */
  device(): Promise<string>
  /** Headers of the request as it came, for those that only a browser sends. */
  headers: Headers
  /** Network address of the client if a trusted proxy named it, else 'direct'. */
  client: string
  /** Claim under which this request may enter something once; null without an Idempotency-Key. */
  claim: string | null
  /** Goes on with work that the answer does not wait for. */
  later: WaitUntil
  /** Wakes the mailer for the outbox; the answer does not wait for it. */
  mailSoon(): void
}

/** A function from a request of the declared shape to an answer or a refusal. */
export type Handler<Contract> =
  Contract extends Operation<infer Request, infer Response, infer Errors>
    ? (
        input: z.output<Request>,
        context: Context,
      ) => Promise<z.input<Response> | Refusal<Errors | 'invalid_request' | 'unavailable'>>
    : never
