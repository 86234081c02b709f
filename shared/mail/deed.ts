/**
 * What notices to the owner have in common: who did it, where and when, and what to do when it was
 * somebody else. Their links lead to pages on which the owner decides; opening one changes nothing.
 */
import { browserName } from './browser-name.ts'
import type { Part } from './letter.ts'

/** Where and when something was done in the owner's name. */
export type Deed = {
  at: Date
  /** User agent of the browser or program. */
  device: string
  /** Network address, as far as it is known. */
  client: string
}

/** The deed as facts of a mail. */
export function told({ at, device, client }: Deed): Record<string, string> {
  return { When: utc(at), Device: browserName(device), 'Network address': addressShown(client) }
}

/** A network address as a fact of a mail; anything else, such as what a proxy passed on, is not known. */
export function addressShown(client: string): string {
  return /^[0-9a-f]*[.:][0-9a-f.:]+$/i.test(client) ? client : 'Not known'
}

/** The end of a notice about what only the owner may do. */
export function notYou(webUrl: string, { at }: Pick<Deed, 'at'>): Part[] {
  return [
    'If this was you, there is nothing to do. If it was not, say so: after you have proven that it is ' +
      'you, one step ends everything that was made in your account since then, and sets a new password:',
    { link: `${webUrl}/not-me?since=${shortlyBefore(at)}`, label: 'It was not me' },
  ]
}

/** A little earlier, since the clock of the database may be behind. */
function shortlyBefore(at: Date): string {
  return `${new Date(at.getTime() - 120_000).toISOString().slice(0, 16)}Z`
}

/** A time as people read it. */
export function utc(at: Date): string {
  return `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`
}
