/**
 * The part of a host name that somebody registered: by the public suffix list with its private part,
 * and by a list of domains below which their operators give names to customers, which that list has not.
 */
import { getDomain } from 'tldts'

/** Names below these belong to customers of one operator, who are strangers to each other. */
const sharedDomains: ReadonlySet<string> = new Set(
  `atlassian.net auth0.com b2clogin.com bamboohr.com bandcamp.com basecamp.com bigcartel.com box.com
  canny.io ciamlogin.com circle.so desk.com deviantart.com discourse.com fandom.com force.com
  freshdesk.com freshservice.com ghost.io gitbook.com glitch.me gumroad.com helpjuice.com helpscout.com
  hubspot.com instructure.com intercom.help itch.io kayako.com livejournal.com lovable.app mn.co
  monday.com myfreshworks.com mystrikingly.com myworkday.com myworkdayjobs.com odoo.com okta.com
  okta-emea.com oktapreview.com onelogin.com onmicrosoft.com pipedrive.com readme.io recurly.com
  salesforce.com salesforce-sites.com service-now.com sharepoint.com slack.com squarespace.com
  statuspage.io substack.com surveymonkey.com teachable.com thinkific.com trello.com tumblr.com
  typeform.com uservoice.com webex.com weebly.com wordpress.com workday.com zendesk.com zohodesk.com
  zoom.us`.split(/\s+/),
)

/** The registrable domain, in lower case; undefined where none can be owned, as of co.uk or an IP. */
export function registrableDomain(host: string): string | undefined {
  const name = host.toLowerCase().replace(/\.$/, '')
  const domain = getDomain(name, { allowPrivateDomains: true })
  if (domain === null) return undefined
  if (name === domain || !sharedDomains.has(domain)) return domain
  const label = name
    .slice(0, -domain.length - 1)
    .split('.')
    .at(-1)
  return `${label}.${domain}`
}

/** Whether the names right below a host are its customers'. */
export function isSharedDomain(host: string): boolean {
  return sharedDomains.has(host)
}

/** Whether a host is a customer's at a shared domain. */
export function isTenant(host: string): boolean {
  const domain = registrableDomain(host)
  return domain !== undefined && sharedDomains.has(domain.slice(domain.indexOf('.') + 1))
}
