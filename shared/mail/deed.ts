/**
 * The parts that notices to the owner share: who did something, where and when, and what to do if it
 * was somebody else. Their links lead to pages where the owner decides; opening one changes nothing.
 */
import { browserName } from './browser-name.ts'
import type { Part } from './letter.ts'

/** The place and time of an action in the owner's name. */
export type SecurityEvent = {
  at: Date
  /** User agent of the browser or program. */
  device: string
  /** Network address, if known. */
  client: string
}

/** Returns the action as the facts of a mail. */
export function eventFacts({ at, device, client }: SecurityEvent): Record<string, string> {
  return { When: utc(at), Device: browserName(device), 'IP address': addressShown(client) }
}

/** Returns a network address as a fact of a mail, or "Not known" for any other text, such as a proxy's. */
export function addressShown(client: string): string {
  return /^[0-9a-f]*[.:][0-9a-f.:]+$/i.test(client) ? client : 'Not known'
}

/** Returns the end of a notice about an action that only the owner may take. */
export function notYou(webUrl: string): Part[] {
  return [
    'If this was you, there is nothing to do. If it was not, secure your account: after you confirm that ' +
      'it is you, one step ends every other way in and sets a new password:',
    { link: `${webUrl}/secure`, label: 'Secure my account' },
  ]
}

/** Returns the end of a notice about a hold. */
export function endTheHold(webUrl: string): Part[] {
  return [
    'If this was you, there is nothing to do. If it was not, end the hold, with your passkey or, if you have none, ' +
      'your password. That also ends what began it:',
    { link: `${webUrl}/hold`, label: 'End the hold' },
  ]
}

/** Formats a time for people to read, in UTC. */
export function utc(at: Date): string {
  return `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`
}
