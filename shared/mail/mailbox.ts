/** The part of the vault that opens mail for its account and takes what the account sends. */
import { answering } from '../vault/answering.ts'
import type { VaultRoom } from '../vault/room.ts'
import { listMails, waitForMail } from './mailbox-list.ts'
import type { MailboxPort } from './mailbox-port.ts'
import { readMail } from './mailbox-read.ts'
import { sendMail } from './mailbox-send.ts'

/** Opens the mailboxes. */
export function openMailbox(room: VaultRoom): MailboxPort {
  return {
    listMails: (credential, question) => answering(() => listMails(room, credential, question)),
    readMail: (credential, choice) => answering(() => readMail(room, credential, choice)),
    waitForMail: (credential, wanted) => answering(() => waitForMail(room, credential, wanted)),
    sendMail: (credential, order) => answering(() => sendMail(room, credential, order)),
  }
}
