/** Tells the owner where secrets of the vault go. */
import { utc } from './deed.ts'
import { letter, type Message } from './letter.ts'

/** A secret was used at a site, or read for one, for the first time. */
export function siteFirstUsed(webUrl: string, { site, at }: { site: string; at: Date }): Message {
  return letter('site_first_used', 'A login of your vault is in use at a new site', [
    'For the first time a secret of your vault is used at this site, or was read by your agent:',
    { facts: { Site: site, When: utc(at) } },
    'You are told once for each site; every use stands in the activity.',
    { link: `${webUrl}/activity`, label: 'See the activity' },
    'If this is not as you meant it, freeze the account: then no secret is used any more.',
  ])
}
