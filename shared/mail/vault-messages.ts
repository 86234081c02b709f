/** Tells the owner what became of the vault without it. */
import type { Deed } from './deed.ts'
import { told } from './deed.ts'
import type { Message } from './letter.ts'
import { letter } from './letter.ts'

/** Somebody who has a link put a login into the vault. */
export function loginEntered(
  webUrl: string,
  deed: Deed & { site: string; username: string },
): Message {
  return letter('login_entered', 'A login was put into your vault', [
    'An agent asked for a login by a link, and somebody entered one. Agents can use it at this site:',
    { facts: { Site: deed.site, 'User name': deed.username, ...told(deed) } },
    'If this was not you, delete the login in your vault:',
    { link: `${webUrl}/vault`, label: 'Open the vault' },
  ])
}
