/**
 * The vault's interface for other functions; only the vault can open entries and mails. Every request of a
 * caller carries its credential, which SQL checks. Refusals are returned as values, because an error loses
 * its class between two workers.
 */
import type { MailboxPort } from '../mailbox/port.ts'
import type { InboundPort } from '../mailbox/receive/inbound-port.ts'
import type { EntriesPort } from './entries/entries-port.ts'
import type { LoginLinkPort } from './entries/login-link-port.ts'
import type { LookPort, SignInPort } from './sign-in/port.ts'
import type { UsePort } from './use-port.ts'

/** All operations of the vault, on entries and on mails. */
export type VaultPort = EntriesPort &
  InboundPort &
  LoginLinkPort &
  LookPort &
  MailboxPort &
  SignInPort &
  UsePort & {
    /** Throws unless the vault has its root keys and can call its database. */
    ready(): Promise<void>
  }
