/**
 * What other functions may ask of the vault, the only one that can open entries and mails. Every
 * request of a caller carries its credential, which SQL judges; what is refused comes back as a value,
 * because an error loses its kind between two workers.
 */
import type { InboundPort } from '../mailbox/inbound-port.ts'
import type { MailboxPort } from '../mailbox/port.ts'
import type { EntriesPort } from './entries-port.ts'
import type { LoginLinkPort } from './login-link-port.ts'
import type { SignInPort } from './sign-in/port.ts'
import type { UsePort } from './use-port.ts'

/** Entries and mails, as the vault serves them. */
export type VaultPort = EntriesPort &
  InboundPort &
  LoginLinkPort &
  MailboxPort &
  SignInPort &
  UsePort & {
    /** Throws unless it is there with its root keys. */
    ready(): Promise<void>
  }
