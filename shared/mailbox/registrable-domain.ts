/**
 * Finds the part of a host name that somebody registered, by the public suffix list with its private
 * section, and by a list of further domains whose operators give names below them to customers.
 */
import { getDomain } from 'tldts'

/** Domains whose subdomains belong to customers of one operator, who are strangers to each other. */
const sharedDomains: ReadonlySet<string> = new Set(
  `acuityscheduling.com apify.actor app.github.dev as.me atlassian.net auth0.com b2clogin.com
  bamboohr.com bandcamp.com basecamp.com beehiiv.com bigcartel.com booth.pm box.com cafe24.com
  canny.io cargo.site chargebee.com ciamlogin.com circle.so ck.page clickfunnels.com company.site
  creator-spring.com desk.com deviantart.com discourse.com e2b.dev fanbox.cc fandom.com force.com
  freshdesk.com freshservice.com ghost.io gitbook.com github.dev glide.page glitch.me gumroad.com
  hashnode.dev helpjuice.com helpscout.com helpscoutdocs.com hs-sites.com hubspot.com
  hubspotpagebuilder.com instructure.com intercom.help itch.io jimdofree.com jimdosite.com
  kartra.com kayako.com lemonsqueezy.com lightning.force.com livejournal.com lovable.app
  mailchimpsites.com medium.com mn.co modal.run monday.com my.salesforce.com my.site.com
  mybigcommerce.com myclickfunnels.com myfreshworks.com myinstamojo.com mykajabi.com
  myportfolio.com mystrikingly.com myworkday.com myworkdayjobs.com neocities.org odoo.com
  okta-emea.com okta.com oktapreview.com onelogin.com onmicrosoft.com photoshelter.com
  pipedrive.com pixieset.com podia.com readme.io recurly.com salesforce-sites.com salesforce.com
  samcart.com sandbox.my.salesforce.com service-now.com setmore.com sharepoint.com shop-pro.jp
  simplybook.me slack.com smugmug.com softr.app squarespace.com statuspage.io storenvy.com
  stores.jp strikingly.com substack.com surveymonkey.com systeme.io teachable.com thebase.in
  thinkific.com tilda.ws trello.com tumblr.com typeform.com uservoice.com webcontainer.io
  webex.com weebly.com wordpress.com workday.com zendesk.com zenfolio.com zohodesk.com
  zoom.us`.split(/\s+/),
)

/** Returns the registrable domain in lower case; undefined if there is none, as for co.uk or an IP. */
export function registrableDomain(host: string): string | undefined {
  const name = host.toLowerCase().replace(/\.$/, '')
  const domain = getDomain(name, { allowPrivateDomains: true })
  if (domain === null) return undefined
  const labels = name.split('.')
  const tenant = labels
    .map((_, at) => labels.slice(at).join('.'))
    .find((_, at) => sharedDomains.has(labels.slice(at + 1).join('.')))
  return tenant !== undefined && tenant.length > domain.length ? tenant : domain
}

/** Returns true if the names right below a host belong to its customers, by the list above. */
export function isSharedDomain(host: string): boolean {
  return sharedDomains.has(host)
}

/** Returns true if a host belongs to a customer of a domain in the list above. */
export function isTenant(host: string): boolean {
  const domain = registrableDomain(host)
  return domain !== undefined && sharedDomains.has(domain.slice(domain.indexOf('.') + 1))
}
