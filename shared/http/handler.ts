/** What a handler is given and what it may answer. */
import type * as z from 'zod'
import type { Refusal } from '../contract/errors.ts'
import type { Operation } from '../contract/operation.ts'
import type { CallerDatabase } from '../db/database.ts'
import type { World } from '../world.ts'

/** One request: who asks, and all that its handler may reach. */
export type Context = {
  world: World
  /** Bound to the caller of this request; of no use in a public operation. */
  db: CallerDatabase
  /** Whether the database was asked, and so has let the caller in. */
  isAdmitted(): boolean
  /** HMAC of the caller's token, for custody. */
  credential: string
  now(): Date
  requestId: string
  /** Fingerprint of the client: SHA-256 of X-Device-Id, else of the user agent. */
  device(): Promise<string>
  /** Of the request as it came, for what only a browser sends. */
  headers: Headers
  /** Network address of the client where a trusted proxy told it, else 'direct'. */
  client: string
  /** Under which this request may enter something once, when it carries an Idempotency-Key. */
  claim: string | null
  /** Has the mailer look into the outbox; the answer does not wait for it. */
  mailSoon(): void
}

/** A plain function from a request that has the described shape to an answer or a refusal. */
export type Handler<Contract> =
  Contract extends Operation<infer Request, infer Response, infer Errors>
    ? (
        input: z.output<Request>,
        context: Context,
      ) => Promise<z.input<Response> | Refusal<Errors | 'invalid_request' | 'unavailable'>>
    : never
