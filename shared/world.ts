/**
 * The outside: clock, randomness, network, database and custody, built once per isolate and handed
 * down as one object. Nothing else in shared/ touches them, so a test can hold them all.
 */
import type { EndpointHealth } from './chains/evm/endpoints.ts'
import type { Health } from './contract/gap-states.ts'
import type { CustodyPort } from './custody/port.ts'
import type { Database } from './db/database.ts'
import { openDatabase } from './db/database.ts'
import type { Config } from './env.ts'
import { readConfig } from './env.ts'
import type { MailerPort } from './mail/port.ts'
import type { MailReaderPort } from './mailbox/reader-port.ts'
import type { VaultPort } from './vault/port.ts'

/** The platform's fetch, without the extras of any one platform. */
export type Fetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>

/** Everything from outside. A field that a test replaces is replaced for the whole product. */
export type World = {
  config: Config
  now(): Date
  randomBytes(length: number): Uint8Array<ArrayBuffer>
  /** UUID version 4 (RFC 9562 section 5.4); identifies, and is no secret. */
  newId(): string
  /** Raw network. Requests to strangers go through egress/safe-fetch.ts. */
  fetch: Fetch
  /** Ends after so many milliseconds, aborting what was started with it. */
  deadline(milliseconds: number): AbortSignal
  /** A pause between two looks at something that another request is finishing. */
  pause(milliseconds: number): Promise<void>
  /** How the chains' endpoints did lately, as this isolate saw it. */
  endpointHealth: EndpointHealth
  /** What the database last told of health, and until when that is good enough. */
  healthSeen: { kept?: { health: Health; untilMilliseconds: number } }
  db: Database
  /** One structured line for the operator. Never secrets, never bodies. */
  log(entry: Record<string, string | number>): void
  /** Absent in functions that were not given the binding. */
  custody?: CustodyPort
  /** Absent in functions that were not given the binding. */
  vault?: VaultPort
  /** Absent in functions that put nothing into the outbox; its schedule finds what they do not tell. */
  mailer?: MailerPort
  /** Only where mail comes in. */
  mailReader?: MailReaderPort
}

type Bindings = {
  CUSTODY?: CustodyPort
  VAULT?: VaultPort
  MAILER?: MailerPort
  MAIL_READER?: MailReaderPort
} & Record<string, unknown>

/** Builds the world from a platform's bindings. */
export function worldFrom(bindings: Bindings): World {
  const config = readConfig(bindings)
  const fetch: Fetch = (input, init) => globalThis.fetch(input, init)
  return {
    config,
    now: () => new Date(),
    randomBytes: (length) => crypto.getRandomValues(new Uint8Array(length)),
    newId,
    fetch,
    deadline: (milliseconds) => AbortSignal.timeout(milliseconds),
    pause: (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)),
    endpointHealth: new Map(),
    healthSeen: {},
    db: openDatabase(config, fetch),
    log: (entry) => console.error(JSON.stringify(entry)),
    ...(bindings.CUSTODY ? { custody: bindings.CUSTODY } : {}),
    ...(bindings.VAULT ? { vault: bindings.VAULT } : {}),
    ...(bindings.MAILER ? { mailer: bindings.MAILER } : {}),
    ...(bindings.MAIL_READER ? { mailReader: bindings.MAIL_READER } : {}),
  }
}

/** UUID version 4 (RFC 9562 section 5.4), for functions that answer without a world. */
export function newId(): string {
  return crypto.randomUUID()
}
