/**
 * The outside world: clock, randomness, network, database and custody, built once per isolate and passed
 * down as one object. Nothing else in shared/ touches them, so a test can replace them all.
 */
import type { EndpointHealth } from './chains/evm/rpc/endpoints.ts'
import type { Health } from './contract/gaps.ts'
import type { CustodyPort } from './custody/port.ts'
import { type Database, openDatabase } from './db/database.ts'
import { type Config, readConfig } from './env.ts'
import type { MailerPort } from './mail/port.ts'
import type { MailNews } from './mailbox/port.ts'
import type { MailReaderPort } from './mailbox/receive/reader-port.ts'
import type { VaultPort } from './vault/port.ts'

/** The platform's fetch, without the extensions of any one platform. */
export type Fetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>

/** Everything from outside. A field that a test replaces is replaced for the whole product. */
export type World = {
  config: Config
  now(): Date
  randomBytes(length: number): Uint8Array<ArrayBuffer>
  /** Makes a UUID version 4 (RFC 9562 section 5.4); it identifies and is not a secret. */
  newId(): string
  /** Raw network access. Requests to addresses of strangers go through egress/safe-fetch.ts. */
  fetch: Fetch
  /** Returns a signal that aborts after this many milliseconds. */
  deadline(milliseconds: number): AbortSignal
  /** Waits between two checks of work that another request is finishing. */
  pause(milliseconds: number): Promise<void>
  /** Recent health of the chains' endpoints, as this isolate saw it. */
  endpointHealth: EndpointHealth
  /** Health that the database last reported, and until when it may be used. */
  healthSeen: { kept?: { health: Health; untilMilliseconds: number } }
  /** News of mails that all waiting requests of this isolate share. */
  mailNews: MailNews
  db: Database
  /** Writes one structured line for the operator. Must not contain secrets or bodies. */
  log(entry: Record<string, string | number>): void
  /** Absent in functions without the binding. */
  custody?: CustodyPort
  /** Absent in functions without the binding. */
  vault?: VaultPort
  /** Absent in functions without the binding; the mailer's schedule finds mails that nobody announced. */
  mailer?: MailerPort
  /** Present only where mail is received. */
  mailReader?: MailReaderPort
}

type Bindings = {
  /** The database of a host that has connections of its own. */
  DATABASE?: Database
  CUSTODY?: CustodyPort
  VAULT?: VaultPort
  MAILER?: MailerPort
  MAIL_READER?: MailReaderPort
} & Record<string, unknown>

/** Returns random bytes of the platform, all that a function without bindings needs of the world. */
export function randomBytes(length: number): Uint8Array<ArrayBuffer> {
  return crypto.getRandomValues(new Uint8Array(length))
}

/** Builds the world from a platform's bindings. */
export function worldFrom(bindings: Bindings): World {
  const config = readConfig(bindings)
  const fetch: Fetch = (input, init) => globalThis.fetch(input, init)
  return {
    config,
    now: () => new Date(),
    randomBytes,
    newId,
    fetch,
    deadline: (milliseconds) => AbortSignal.timeout(milliseconds),
    pause: (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)),
    endpointHealth: new Map(),
    healthSeen: {},
    mailNews: { waiting: new Map(), newest: new Map(), askedMilliseconds: 0 },
    db: bindings.DATABASE ?? openDatabase(config, fetch),
    log: (entry) => console.error(JSON.stringify(entry)),
    ...(bindings.CUSTODY ? { custody: bindings.CUSTODY } : {}),
    ...(bindings.VAULT ? { vault: bindings.VAULT } : {}),
    ...(bindings.MAILER ? { mailer: bindings.MAILER } : {}),
    ...(bindings.MAIL_READER ? { mailReader: bindings.MAIL_READER } : {}),
  }
}

/** Makes a UUID version 4 (RFC 9562 section 5.4), for functions that answer without a world. */
export function newId(): string {
  return crypto.randomUUID()
}
