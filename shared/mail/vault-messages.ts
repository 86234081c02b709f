/** Notices to the owner about where secrets of the vault are used. */
import { eventFacts, type SecurityEvent, utc } from './deed.ts'
import { letter, type Message } from './letter.ts'

/** Writes the notice that a secret was used at a site, or read for one, for the first time. */
export function siteFirstUsed(webUrl: string, { site, at }: { site: string; at: Date }): Message {
  return letter('site_first_used', 'A login of your vault is in use at a new site', [
    'For the first time a secret of your vault is used at this site, or was read by your agent:',
    { facts: { Site: site, When: utc(at) } },
    'You are told once for each site; every use stands in the activity.',
    { link: `${webUrl}/activity`, label: 'See the activity' },
    'If this is not as you meant it, freeze the account: then no secret is used any more.',
  ])
}

/** Writes the notice that the owner entered a login that an agent had asked for by a link. */
export function loginEntered(webUrl: string, event: SecurityEvent & { site: string }): Message {
  return letter('login_entered', 'A login was put into your vault', [
    'An agent asked for a login by a link, and somebody who is signed in as you entered it. Agents ' +
      'can use it at this site:',
    { facts: { Site: event.site, ...eventFacts(event) } },
    'Codes from your mail are not used with it before you let it on its page in the vault. If this ' +
      'was not you, delete the login there:',
    { link: `${webUrl}/vault`, label: 'Open the vault' },
  ])
}
